//! What Jupyter starts as the kernel "Rust"; set-up copies it to `.learn/tools/bin`, where
//! a rebuild of the workspace does not pull it away from under a kernel.

fn main() -> std::process::ExitCode {
    notebooks::kernel(std::env::args_os().skip(1))
}
