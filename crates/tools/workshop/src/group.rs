//! A program with all that it starts, ended together: with this process too, however this one
//! ends. A process group with a watch in it on Unix, a job on Windows. Ctrl-C in the terminal
//! does not reach it.

use std::io;
use std::process::{Child, Command, ExitCode, ExitStatus, Output, Stdio};

use crate::parent;

/// All that a program has started, itself included. Dropped, or where this process is killed,
/// it is ended at once.
#[derive(Debug)]
pub struct Group {
    _ended: system::Ended,
}

/// Starts a program in a group of its own.
///
/// # Errors
/// A program that cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
    // Whatever this process is tied to, its children are not: they have this group.
    let (child, ended) = system::spawn(command.env_remove(parent::TIED))?;
    Ok((child, Group { _ended: ended }))
}

/// Runs a program to its end, in a group of its own.
///
/// # Errors
/// A program that cannot be started.
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    let (mut child, _group) = spawn(command)?;
    child.wait()
}

/// The same, and what it prints.
///
/// # Errors
/// A program that cannot be started, or its output that cannot be read.
pub fn output(command: &mut Command) -> io::Result<Output> {
    let (child, _group) = spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    child.wait_with_output()
}

/// Becomes the program; where that cannot be (Windows), runs it, ends it where this process
/// is ended, and gives what it exits with.
///
/// # Errors
/// A program that cannot be started.
pub fn replace(command: &mut Command) -> io::Result<ExitCode> {
    system::replace(command)
}

#[cfg(unix)]
mod system {
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, ExitCode, Stdio};

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    /// Leads a group, and ends it when nobody holds its standard input any more.
    #[derive(Debug)]
    pub struct Ended(Child);

    impl Ended {
        fn pid(&self) -> Pid {
            Pid::from_raw(self.0.id().cast_signed())
        }
    }

    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = killpg(self.pid(), Signal::SIGKILL);
            let _ = self.0.wait();
        }
    }

    pub fn spawn(command: &mut Command) -> io::Result<(Child, Ended)> {
        let mut watch = Command::new("/bin/sh");
        watch.args(["-c", "read -r word; kill -KILL 0"]).process_group(0);
        watch.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let group = Ended(watch.spawn()?);
        let child = command.process_group(group.pid().as_raw()).spawn()?;
        Ok((child, group))
    }

    pub fn replace(command: &mut Command) -> io::Result<ExitCode> {
        // Returns only if it fails.
        Err(command.exec())
    }
}

#[cfg(windows)]
mod system {
    use std::io;
    use std::os::windows::io::AsRawHandle;
    use std::os::windows::process::CommandExt;
    use std::process::{Child, Command, ExitCode};

    use win32job::{ExtendedLimitInfo, Job, JobError};

    /// A group that Ctrl-C of the terminal does not reach.
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

    /// A job ends what is in it when its last handle is closed. Old systems allow none within
    /// another: there only the program itself is ended.
    #[derive(Debug)]
    pub struct Ended {
        _job: Option<Job>,
    }

    pub fn spawn(command: &mut Command) -> io::Result<(Child, Ended)> {
        let child = command.creation_flags(CREATE_NEW_PROCESS_GROUP).spawn()?;
        let handle = child.as_raw_handle() as isize;
        let job = job().and_then(|job| job.assign_process(handle).map(|()| job));
        Ok((child, Ended { _job: job.ok() }))
    }

    fn job() -> Result<Job, JobError> {
        Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close())
    }

    pub fn replace(command: &mut Command) -> io::Result<ExitCode> {
        // Ctrl-C reaches the program too, and what follows is its business. Another handler,
        // if there is one, knows better.
        let _ = ctrlc::set_handler(|| {});
        if let Ok(job) = job()
            && job.assign_current_process().is_ok()
        {
            // Dropped, it would end this process at once; the system closes it in the end.
            std::mem::forget(job);
        }
        let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Two seconds are what a reader may wait; a machine under load takes longer.
    const SOON: Duration = Duration::from_secs(20);

    /// What this program plays when a test starts it.
    const ROLE: &str = "LEARN_TEST_ROLE";

    const TEST: &str = "group::tests::all_end_where_the_one_that_started_them_is_killed";

    fn player(role: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", TEST]).env(ROLE, role).stdin(Stdio::null());
        command
    }

    fn play(role: &str) {
        match role {
            "child" => drop(player("grandchild").status().unwrap()),
            "parent" => {
                let _both = spawn(&mut player("child")).unwrap();
                thread::sleep(Duration::from_secs(30));
            }
            #[cfg(windows)]
            "replaced" => drop(replace(&mut player("child")).unwrap()),
            _ => thread::sleep(Duration::from_secs(30)),
        }
    }

    /// Whether all are gone soon that were given this pipe's other end.
    fn closes(mut pipe: impl io::Read) -> bool {
        let start = Instant::now();
        io::copy(&mut pipe, &mut io::sink()).unwrap();
        start.elapsed() < SOON
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let (mut child, group) = spawn(player("child").stdout(Stdio::piped())).unwrap();
        thread::sleep(Duration::from_secs(1));
        assert!(child.try_wait().unwrap().is_none());
        drop(group);
        assert!(closes(child.stdout.take().unwrap()));
        child.wait().unwrap();
    }

    /// As by `kill -9`, or TerminateProcess: the one that is killed can do nothing any more.
    #[test]
    fn all_end_where_the_one_that_started_them_is_killed() {
        if let Ok(role) = env::var(ROLE) {
            return play(&role);
        }
        all_end_with("parent");
    }

    /// Unix has nobody to end there: what replaces a program has its number.
    #[cfg(windows)]
    #[test]
    fn what_replaces_a_program_ends_where_that_is_killed() {
        all_end_with("replaced");
    }

    fn all_end_with(role: &str) {
        let mut parent = player(role).stdout(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_secs(1));
        assert!(parent.try_wait().unwrap().is_none());
        parent.kill().unwrap();
        parent.wait().unwrap();
        assert!(closes(parent.stdout.take().unwrap()));
    }

    #[test]
    fn what_a_program_prints_and_exits_with_is_passed_on() {
        let mut echo = Command::new(if cfg!(windows) { "cmd" } else { "sh" });
        echo.args(if cfg!(windows) {
            ["/c", "echo a& exit 3"]
        } else {
            ["-c", "echo a; exit 3"]
        });
        let output = output(&mut echo).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "a");
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(status(echo.stdout(Stdio::null())).unwrap().code(), Some(3));
    }
}
