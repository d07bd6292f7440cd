//! A program with all that it starts, ended together: a process group on Unix, a job on
//! Windows. Ctrl-C in the terminal does not reach it.

use std::io;
use std::process::{Child, Command};

/// All that a program has started, itself included. Dropped, it is ended at once; where this
/// process is killed, Windows ends it too.
#[derive(Debug)]
pub struct Group {
    _ended: system::Ended,
}

/// Starts a program in a group of its own.
///
/// # Errors
/// A program that cannot be started.
pub fn spawn(command: &mut Command) -> io::Result<(Child, Group)> {
    system::apart(command);
    let child = command.spawn()?;
    let group = Group { _ended: system::Ended::of(&child) };
    Ok((child, group))
}

pub use system::end_with_parent;

#[cfg(unix)]
mod system {
    use std::os::unix::process::{CommandExt, parent_id};
    use std::process::{Child, Command, exit};
    use std::thread;
    use std::time::Duration;

    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::{Pid, getpgrp, getpid};

    #[derive(Debug)]
    pub struct Ended(Pid);

    impl Ended {
        pub fn of(leader: &Child) -> Self {
            Self(Pid::from_raw(leader.id().cast_signed()))
        }
    }

    impl Drop for Ended {
        fn drop(&mut self) {
            // There may be nobody left in it.
            let _ = killpg(self.0, Signal::SIGKILL);
        }
    }

    pub fn apart(command: &mut Command) {
        command.process_group(0);
    }

    /// From here on this process ends when the one that started it does, and what it started
    /// with it, where it leads a group.
    pub fn end_with_parent() {
        const PAUSE: Duration = Duration::from_millis(500);
        let parent = parent_id();
        thread::spawn(move || {
            while parent_id() == parent {
                thread::sleep(PAUSE);
            }
            if getpgrp() == getpid() {
                let _ = killpg(getpgrp(), Signal::SIGKILL);
            }
            exit(1);
        });
    }
}

#[cfg(windows)]
mod system {
    use std::os::windows::io::AsRawHandle;
    use std::os::windows::process::CommandExt;
    use std::process::{Child, Command};

    use win32job::{ExtendedLimitInfo, Job, JobError};

    /// A group that Ctrl-C of the terminal does not reach.
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;

    /// A job ends what is in it when its last handle is closed. Old systems allow none within
    /// another: there only the program itself is ended.
    #[derive(Debug)]
    pub struct Ended {
        _job: Option<Job>,
    }

    impl Ended {
        pub fn of(leader: &Child) -> Self {
            let handle = leader.as_raw_handle() as isize;
            let job = job().and_then(|job| job.assign_process(handle).map(|()| job));
            Self { _job: job.ok() }
        }
    }

    fn job() -> Result<Job, JobError> {
        Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close())
    }

    pub fn apart(command: &mut Command) {
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }

    /// From here on what this process starts ends with it, however it ends. What started it
    /// has it in a job.
    pub fn end_with_parent() {
        if let Ok(job) = job()
            && job.assign_current_process().is_ok()
        {
            // Dropped, it would end this process at once; the system closes it in the end.
            std::mem::forget(job);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// Starts another program, which waits, and waits for it.
    fn two_that_wait() -> Command {
        let mut command = match cfg!(windows) {
            true => Command::new("cmd"),
            false => Command::new("sh"),
        };
        match cfg!(windows) {
            true => command.args(["/c", "cmd /c set /p word="]).stdin(Stdio::piped()),
            false => command.args(["-c", "sleep 60; true"]).stdin(Stdio::null()),
        };
        command.stdout(Stdio::piped());
        command
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let (mut child, group) = spawn(&mut two_that_wait()).unwrap();
        thread::sleep(Duration::from_millis(200));
        assert!(child.try_wait().unwrap().is_none());
        let start = Instant::now();
        drop(group);
        // Both held the pipe's end: it is closed when both are gone.
        let mut pipe = child.stdout.take().unwrap();
        io::copy(&mut pipe, &mut io::sink()).unwrap();
        child.wait().unwrap();
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
