"""The command ``unheard`` and how it ends."""

from __future__ import annotations

import re
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
from unheard.cli.demo import demo
from unheard.cli.estimate import estimate
from unheard.cli.minimax import minimax
from unheard.cli.paper import paper
from unheard.cli.plan import plan
from unheard.cli.rank import rank
from unheard.cli.rate import rate, sql
from unheard.cli.regret import regret
from unheard.cli.report import report
from unheard.cli.serve import serve
from unheard.cli.sweep import sweep
from unheard.errors import AssumptionError, InputError, MissingLibraryError, QueryError
from unheard.options.surfaces import CommandLine
from unheard.text import printable

DONE, OUR_FAILURE, BAD_INPUT = 0, 1, 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="unheard")
def cli() -> None:
    """An honest rating, with an allowance for the people who said nothing.

    Start with: unheard demo
    """


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that completes this command in a shell.

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
    """End as the signal ends whoever does not listen to it."""
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


def _as_typed(place: str) -> str:
    """Name an argument of the library as the option that it was given by."""
    name, rest = re.match(r"(\w*)(.*)", place, re.DOTALL).groups()  # type: ignore[union-attr]
    options = {option.name for command in cli.commands.values() for option in command.params}
    if name == "assumption" and "--assumption" not in sys.argv:
        return place
    if name in ("n", "q") and f"--{name}-column" in sys.argv:
        name = f"{name}_column"
    if name in options - {"counts", "source"} and (not rest or rest[0] in "[ "):
        return f"--{name.replace('_', '-')}{rest}"
    return place


def _told(error: InputError) -> str:
    """Write an error in the words of the command line."""
    if "found" not in error.data:
        return printable(error.render(CommandLine()))
    text = str(error)[len(error.place) :]
    # Advice such as nulls='drop' is given to people who type --nulls drop.
    text = re.sub(
        r"\b(nulls|off_scale|duplicates|scale)='([\w:]+)'",
        lambda found: f"--{found[1].replace('_', '-')} {found[2]}",
        text,
    )
    text = re.sub(r"\b([nq])='([^']+)'", r"--\1-column \2", text)
    text = text.replace("say that the audit is not paired", "say --unpaired")
    if error.place == "audit":
        text = re.sub(r"\b(answered|population|observed|truth),", r"--\1,", text)
    if error.place == "assumption" and isinstance(error, AssumptionError):
        text = re.sub(r"\b(q \(|participation|g\b)", r"--\1", text)
    return printable(f"{_as_typed(error.place)}{text}")


def _run() -> int:
    try:
        cli.main(prog_name="unheard", standalone_mode=False)
    except InputError as error:
        click.echo(f"Error: {_told(error)}", err=True)
        return BAD_INPUT
    except (MissingLibraryError, QueryError) as error:
        click.echo(f"Error: {printable(str(error))}", err=True)
        return BAD_INPUT
    except click.exceptions.NoArgsIsHelpError as error:
        # Asking for nothing is answered by the help, not by an error.
        click.echo(error.ctx.get_help())
        return DONE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough, as in `unheard ... | head`.
        sys.stdout = None
        return DONE
    except OSError as error:
        click.echo(f"Error: cannot write the output: {error.strerror}.", err=True)
        return OUR_FAILURE
    except Exception:
        traceback.print_exc()
        click.echo("This is a fault of unheard, not of your input; please report it.", err=True)
        return OUR_FAILURE
    return DONE
