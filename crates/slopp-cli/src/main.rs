//! `slopp`, the command line.

fn main() -> std::process::ExitCode {
    slopp_cli::slopp()
}
