"""A real model in the place of the scripted one: asked live, or from a cassette."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.harness.options import CASSETTE, LIVE, SCRIPTED, Options
from pytest_tripwire.harness.task import Model
from pytest_tripwire.models.cassettes import Cassette, CassetteError, read_mode

#: By provider: the variable with its base URL, its public one, and the variable with the key.
PROVIDERS = {
    "openai": ("OPENAI_BASE_URL", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": ("ANTHROPIC_BASE_URL", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
}

#: Sent where a cassette is only played: SDKs want a key before they want an answer.
PLACEHOLDER = "not-needed-to-play"


class RealModel(Model):
    """A provider's model, as the environment says where it is and by which key.

    Args:
        name: the model's name.
        environment: base URLs and keys, under the names that the SDKs read.
        plays: whether every answer comes from a cassette, so that no key is needed.

    Raises:
        HarnessError: there is no key, and one is needed.
    """

    def __init__(self, name: str, environment: Mapping[str, str], *, plays: bool) -> None:
        self.name = name
        self._urls = {
            provider: environment.get(variable) or public
            for provider, (variable, public, _) in PROVIDERS.items()
        }
        self._keys = {
            provider: environment.get(key, "") for provider, (_, _, key) in PROVIDERS.items()
        }
        first, second = _by_likelihood(name)
        self.api_key = self._keys[first] or self._keys[second] or (PLACEHOLDER if plays else "")
        if not self.api_key:
            raise HarnessError(
                f"the model {name} is to be asked, and there is no key: set {PROVIDERS[first][2]} "
                f"or {PROVIDERS[second][2]}, or play cassettes that were recorded before"
            )

    def base_url(self, provider: str) -> str:
        """The base URL for a provider's SDK. Raises ValueError for an unknown one."""
        if provider not in self._urls:
            raise ValueError(f"no base URL for {provider!r}: use one of {', '.join(self._urls)}")
        return self._urls[provider]

    @property
    def env(self) -> dict[str, str]:
        """The same environment variables as the scripted model gives, for the real one."""
        found: dict[str, str] = {}
        for provider, (url, public, key) in PROVIDERS.items():
            # One provider's key is nothing to show to the other; a gateway may take it for both.
            other = PLACEHOLDER if self._urls[provider] == public else self.api_key
            found |= {url: self._urls[provider], key: self._keys[provider] or other}
        return found

    def _native(self, framework: str) -> Any:
        raise HarnessError(
            f"task.model.{framework}() is the scripted model, and --tripwire-model asks for a real "
            "one: make your framework's own of task.model.base_url(provider), api_key and name"
        )


def _by_likelihood(name: str) -> tuple[str, str]:
    return ("anthropic", "openai") if name.startswith("claude") else ("openai", "anthropic")


class Traffic:
    """The model requests of one run: to the scripted model, to a real one, or by a cassette.

    Args:
        options: says which.
        number: the number of the run, from 1; each has a cassette of its own.
        environment: of the process.
    """

    def __init__(self, options: Options, number: int, environment: Mapping[str, str]) -> None:
        self._options = options
        self._environment = environment
        self._cassette = self._new_cassette(number)
        #: The real model; None where the scripted one is asked. There from the beginning.
        self.model: RealModel | None = None

    def __enter__(self) -> Self:
        """Begin. Raises CassetteError for a cassette that cannot be, HarnessError for no key."""
        if self._cassette is not None:
            self._cassette.open()
        try:
            self.model = self._real_model()
        except HarnessError:
            self._close(whole=False)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End; what was not settled before is not kept."""
        self._close(whole=False)

    def settle(self, *, whole: bool) -> None:
        """Keep what was recorded, if the run came to its end.

        Raises:
            CassetteError: the agent asked something else than was recorded, or more, whether it
                swallowed the refusal or not.
        """
        __tracebackhide__ = True
        self._close(whole=whole)
        if self._cassette is not None:
            self._cassette.check()

    def _close(self, *, whole: bool) -> None:
        if self._cassette is not None:
            self._cassette.close(whole=whole)

    def _real_model(self) -> RealModel | None:
        if self._options.model == SCRIPTED:
            return None
        plays = self._cassette is not None and not self._cassette.records
        return RealModel(self._options.model_name, self._environment, plays=plays)

    def _new_cassette(self, number: int) -> Cassette | None:
        path = self._options.cassette
        if self._options.model != CASSETTE or path is None:
            return None
        if number > 1:
            path = path.with_name(f"{path.stem}-run{number}{path.suffix}")
        return Cassette(
            path,
            mode=read_mode(self._options.record_mode, self._environment),
            environment=self._environment,
            shown=_shown(path),
        )


def check_model(options: Options) -> None:
    """See that the model can be asked. Raises HarnessError with what to set."""
    known = (SCRIPTED, CASSETTE, LIVE)
    if options.model not in known:
        raise HarnessError(f"Options(model={options.model!r}): choose from {', '.join(known)}")
    if options.model != SCRIPTED and not options.model_name:
        raise HarnessError(
            f"the model is to be {options.model}, and nobody says which: give model_name, such as "
            'Options(model="live", model_name="gpt-5-mini")'
        )
    if options.model == CASSETTE and options.cassette is None:
        raise HarnessError(
            "the model is to be played from a cassette, and nobody says which: give "
            'Options(cassette=Path("cassettes/lost-write.yaml"))'
        )
    try:
        read_mode(options.record_mode, {})
    except CassetteError as error:
        raise HarnessError(str(error)) from None


def _shown(path: Path) -> str:
    try:
        return path.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.name
