"""A proxy in the environment takes requests for 127.0.0.1 away, and nothing says so."""

from __future__ import annotations

from collections.abc import Mapping

_PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
_EXCEPTIONS = ("NO_PROXY", "no_proxy")


def proxy_hint(environment: Mapping[str, str]) -> str:
    """What to do about a proxy that stands between the agent and the model server; empty if none
    does. Names of variables only: a proxy's address may hold a password.
    """
    proxies = [name for name in _PROXIES if environment.get(name)]
    spared = ",".join(environment.get(name, "") for name in _EXCEPTIONS)
    if not proxies or any(word in spared for word in ("127.0.0.1", "*")):
        return ""
    return (
        f"{proxies[0]} is set, so clients may send requests for the model server on 127.0.0.1 to "
        "that proxy. Set NO_PROXY=127.0.0.1 too."
    )
