"""The command ``unheard`` and how it ends."""

from __future__ import annotations

import io
import signal
import sys
import traceback
from types import FrameType

import click
from click.shell_completion import get_completion_class

from unheard._interrupt import INTERRUPTED, is_importing
from unheard._version import __version__
from unheard.cli.calibrate import calibrate
from unheard.cli.compare import compare
from unheard.cli.counts import counts
from unheard.cli.demo import demo
from unheard.cli.estimate import estimate
from unheard.cli.messages import show_message
from unheard.cli.minimax import minimax
from unheard.cli.options import RefusedInput
from unheard.cli.paper import paper
from unheard.cli.plan import plan
from unheard.cli.rank import rank
from unheard.cli.rate import rate, sql
from unheard.cli.regret import regret
from unheard.cli.report import report
from unheard.cli.serve import serve
from unheard.cli.sweep import sweep
from unheard.errors import FAULT, MissingLibraryError, QueryError, hide_passwords
from unheard.options.questions import GROUPS
from unheard.options.unknown import suggest
from unheard.text import printable

DONE, OUR_FAILURE, BAD_INPUT = 0, 1, 2


class GroupedCommands(click.Group):
    """Commands that the help lists by what they are for."""

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a paragraph for each group, with every summary in full."""
        for group in GROUPS:
            with formatter.section(group.title):
                formatter.write_dl(
                    [(name, self.commands[name].get_short_help_str(100)) for name in group.names]
                )

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; suggest the nearest if there is none of that name."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            near = suggest(args[0], self.commands)
            raise click.UsageError(f"{error.message} {near}".strip(), context) from None


@click.group(cls=GroupedCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="unheard")
def cli() -> None:
    """An honest rating, with an allowance for the people who did not respond.

    Start with: unheard demo
    """


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Example, for the current shell:
      eval "$(unheard completion bash)"
    """
    shell_class = get_completion_class(shell)
    assert shell_class is not None  # click.Choice lets the three known shells through
    script = shell_class(cli, {}, "unheard", "_UNHEARD_COMPLETE").source()
    click.echo(script)


for command in (
    calibrate,
    compare,
    counts,
    demo,
    estimate,
    minimax,
    paper,
    plan,
    rank,
    rate,
    regret,
    report,
    serve,
    sql,
    sweep,
):
    cli.add_command(command)


def main() -> None:
    """Run the command and leave with the exit code that the outcome calls for."""
    terminated = []

    def terminate(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)
        terminated.append(number)
        if is_importing(frame):
            _end_by(number)
        signal.default_int_handler(number, frame)

    # Whoever ends the command in this way is obeyed after it has tidied up, as after Ctrl-C.
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminate)
    code = _run()
    # What was asked for is done or undone: nothing that comes now changes that.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in terminated:
        _end_by(number)
    # Python ends itself by the signal and not by the code if the last exec was interrupted, perhaps
    # one that makes a dataclass; this one is not.
    exec("")
    sys.exit(code)


def _end_by(number: int) -> None:
    """End as the signal ends a process that does not handle it."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _show_usage_error(error: click.ClickException) -> None:
    """Show what is wrong with the words of the command, without passwords; ours have none."""
    if isinstance(error, RefusedInput):
        show_message(f"Error: {error.format_message()}")
        return
    shown = io.StringIO()
    error.show(shown)
    show_message(hide_passwords(shown.getvalue()).removesuffix("\n"))


def _run() -> int:
    try:
        cli.main(prog_name="unheard", standalone_mode=False)
    except (MissingLibraryError, QueryError) as error:
        show_message(f"Error: {printable(str(error))}")
        return BAD_INPUT
    except click.exceptions.NoArgsIsHelpError as error:
        # Asking for nothing is answered by the help, not by an error.
        click.echo(error.ctx.get_help())
        return DONE
    except click.ClickException as error:
        _show_usage_error(error)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `unheard ... | head`.
        sys.stdout = None
        return DONE
    except OSError as error:
        show_message(f"Error: The output cannot be written: {error.strerror}.")
        return OUR_FAILURE
    except Exception:
        click.echo(hide_passwords(traceback.format_exc()), err=True, nl=False)
        show_message(FAULT)
        return OUR_FAILURE
    return DONE
