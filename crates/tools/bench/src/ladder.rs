//! The ladder: a layer of each case in every rung, and beside it the peers.

use anyhow::{Result, ensure};
use runs::{CASES, Case, CaseReport, Pass, Run};
use workshop::output::print;

use crate::measure::{TakesPart, measure};
use crate::side::Program;
use crate::{Common, Limits, expect_optimised, ours, table, tell};

/// The ladder timed on your machine, and beside PyTorch, candle and burn
///
/// Everyone first gives the right answer, within 1e-4 of f64, or has no row. Then come
/// rounds, in each of which everyone runs once, in turn.
#[derive(Debug, Clone, clap::Args)]
pub struct Ladder {
    /// What is timed: 003, 004, 1k-causal, 4k, 16k [default: all]
    #[arg(long = "case", value_name = "NAME")]
    cases: Vec<String>,

    /// Only these of ours
    #[arg(long = "rung", value_name = "NAME")]
    rungs: Vec<String>,

    /// Also forward and backward: the gradients of the input and of all parameters
    #[arg(long)]
    backward: bool,

    /// Only the product of one projection, which --peers measures too: how much of a layer's
    /// speed is that of its products
    #[arg(long, conflicts_with_all = ["backward", "rungs"])]
    product: bool,

    #[command(flatten)]
    pub(crate) limits: Limits,

    #[command(flatten)]
    pub(crate) common: Common,
}

impl Ladder {
    /// Checks, times and prints.
    ///
    /// # Errors
    /// An argument that does not fit, with what there is.
    pub fn run(&self) -> Result<()> {
        let (settings, cases) = (self.common.settings()?, self.cases()?);
        let memory = self.limits.memory()?;
        expect_optimised()?;
        let programs = self.common.beside.programs()?;
        let mut machine = settings.machine()?;
        print(table::machine(&machine))?;
        let wanted = |program: &Program, variant: &str| {
            program.is_peer
                || self.rungs.is_empty()
                || self.rungs.iter().any(|rung| rung == variant)
        };
        let mut reports = Vec::new();
        for case in &cases {
            let mut rows = Vec::new();
            for pass in self.passes() {
                let takes_part: TakesPart<'_> = match pass {
                    Pass::Product => &|_, _| true,
                    _ => &wanted,
                };
                let plan = settings.plan(&programs, memory, takes_part);
                let found = measure(case, pass, &plan)?;
                tell(
                    &format!("{} {case} · {}", case.name, pass.name()),
                    &found,
                    &mut machine,
                )?;
                rows.extend(found.rows);
            }
            reports.push(CaseReport::new(case, rows));
        }
        print(table::LEGEND)?;
        self.limits.keep(Run { machine, cases: reports, growth: Vec::new() })
    }

    /// What is timed.
    pub(crate) fn cases(&self) -> Result<Vec<Case>> {
        let names = ours::names()?;
        for rung in &self.rungs {
            ensure!(
                names.contains(&rung.as_str()),
                "there is no rung {rung:?}; there are {}",
                names.join(", ")
            );
        }
        match self.cases.is_empty() {
            true => Ok(CASES.to_vec()),
            false => Ok(Case::named(&self.cases)?),
        }
    }

    /// What is timed of each case.
    pub(crate) fn passes(&self) -> Vec<Pass> {
        let is_wanted = |pass: &Pass| match pass {
            Pass::Forward => !self.product,
            Pass::ForwardBackward => self.backward,
            Pass::Product => self.product || self.common.beside.peers,
        };
        Pass::ALL.into_iter().filter(is_wanted).collect()
    }
}
