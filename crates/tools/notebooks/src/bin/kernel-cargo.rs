//! What a kernel's type engine takes for cargo; set-up copies it to
//! `.learn/tools/bin/analyzer/bin/cargo`.

fn main() -> std::process::ExitCode {
    notebooks::kernel_cargo(std::env::args_os().skip(1))
}
