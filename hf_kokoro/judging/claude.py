"""The Claude judge: one answer a request, through the anthropic SDK, with our own retrying.

The SDK's retries are off: they ride out about 1.5 seconds of 529s, and sleep through any `retry-after`. Ours
are shared by all workers, bounded, and decided by status and class, never by message text.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeVar

from ..core.encoding import has_lone_surrogate
from ..core.retry import Backoff, retry_after
from ..core.secrets import check_secret
from ..errors import KokoroError, MissingExtraError, UsageError
from .budget import Budget, Price
from .claude_prompt import prompt_sha256, read_message, request_bytes, request_parameters
from .verdicts import Opinion, unjudged

DEFAULT_MODEL = "claude-opus-4-7"
MAX_TOKENS = 512
"""Room for the reason and five scores, about five times what they take; a reply cut off gets four times more."""

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
_BUSY = frozenset({429, 529})
_AGAIN = frozenset({408, 409})
_NO_ENTRY = {
    401: "the key was not accepted; check ANTHROPIC_API_KEY",
    402: "the account has no credit left; what is judged is journaled, run the same command again later",
    403: "the key may not do this; check its workspace and permissions",
    404: "no such model or address; check --model and ANTHROPIC_BASE_URL",
}
_REFUSALS_BEFORE_STOP = 3
_Result = TypeVar("_Result")


class HasStatus(Protocol):
    """A reply as a rubric reads it: `scored`, `refused`, `incomplete` or `invalid`."""

    @property
    def status(self) -> str: ...


_Reading = TypeVar("_Reading", bound=HasStatus)


class StopRun(KokoroError):
    """Nothing more can be judged in this run: no entry, no credit, or every request is refused."""


class NobodyAnswered(KokoroError):
    """All attempts for one answer failed; it stays without a verdict, and a later run sends it again."""

    retryable = True


class ClaudeJudge:
    """Scores through the Messages API. `claude:MODEL` or `model=` names the model.

    Needs ANTHROPIC_API_KEY (or what else the SDK accepts) when the first answer is sent, not before.
    """

    def __init__(
        self,
        argument: str = "",
        *,
        model: str = DEFAULT_MODEL,
        concurrency: int = 16,
        max_tokens: int = MAX_TOKENS,
        timeout: float = 120.0,
        budget: Budget | None = None,
        price: Price | None = None,
        backoff: Backoff | None = None,
    ) -> None:
        if concurrency < 1:
            raise UsageError(f"--concurrency {concurrency}: allowed: 1 or more")
        self.judge_model = argument or model
        self.rubric_sha256 = prompt_sha256()
        self.concurrency, self.max_tokens, self.timeout = concurrency, max_tokens, timeout
        self.priced = price is not None
        self.price, self.budget = price or Price(0, 0, 0, 0), budget or Budget()
        self.backoff = backoff or Backoff()
        self._client: Any = None
        self._answered = 0
        self._refused_requests = 0

    async def score(self, question: str, answer: str) -> Opinion:
        """One request, and one more if the reply is cut off or can't be read.

        Raises NobodyAnswered, StopRun or BudgetSpent; then the answer has no verdict.
        """
        if (opinion := unjudged(answer) or unsendable(question, answer)) is not None:
            return opinion
        size = request_bytes(question, answer)

        def request(max_tokens: int) -> dict[str, Any]:
            return request_parameters(self.judge_model, question, answer, max_tokens)

        return await self.ask(request, size, read_message, lambda opinion: opinion)

    async def ask(
        self,
        request: Callable[[int], dict[str, Any]],
        size: int,
        read: Callable[[Mapping[str, Any]], _Reading],
        from_opinion: Callable[[Opinion], _Reading],
    ) -> _Reading:
        """Send `request(max_tokens)` and `read` the reply; once more if it was cut off or can't be read.

        `size` is the request's size in bytes, an upper bound of its tokens. A request that the service refuses
        is an Opinion, which `from_opinion` turns into what `read` gives. Raises as `score` does.
        """

        async def once(max_tokens: int) -> tuple[_Reading, bool]:
            message = await self._send(request(max_tokens), self.price.most(size, max_tokens))
            if isinstance(message, Opinion):
                return from_opinion(message), True
            reading = read(message)
            return reading, reading.status in ("scored", "refused")

        reading, final = await once(self.max_tokens)
        if not final:
            reading, _ = await once(self.max_tokens * (4 if reading.status == "incomplete" else 1))
        return reading

    async def aclose(self) -> None:
        """Close the connections. The judge can then be used in another event loop."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def client(self) -> Any:
        """The AsyncAnthropic client, made on first use: one client serves one event loop only."""
        if self._client is None:
            self._client = make_client(self.timeout)
        return self._client

    async def _send(self, parameters: dict[str, Any], most: float) -> Mapping[str, Any] | Opinion:
        """The reply as a plain object, or an opinion if the service refuses this very request.

        `most` is the upper bound of its cost, in dollars.
        """
        last = "no attempt"
        for failures in range(self.backoff.attempts):
            await self.backoff.wait()
            async with self.budget.reserve(most) as settle:
                try:
                    message = await self._create(parameters)
                except Failure as failure:
                    # where no answer came, the service may have worked, and charged, all the same
                    settle(most if failure.status is None else 0.0)
                    last = str(failure)
                    opinion = await self._after(failure, failures)
                    if opinion is not None:
                        return opinion
                    continue
                settle(self.price.cost(message.get("usage") or {}))
            self.backoff.fine()
            self._answered += 1
            return message
        raise NobodyAnswered(f"{last}, {self.backoff.attempts} times")

    async def _after(self, failure: Failure, failures: int) -> Opinion | None:
        """Wait as the failure asks for; an opinion ends the item; StopRun ends the run."""
        if failure.status in _NO_ENTRY:
            raise StopRun(f"{failure}: {_NO_ENTRY[failure.status]}")
        if failure.status in _BUSY or failure.busy:
            if (failure.retry_after or 0) > self.backoff.longest:
                raise StopRun(f"{failure}: asks to come back in {failure.retry_after:.0f} s; run again then")
            self.backoff.busy(failure.retry_after)
            return None
        if failure.again:
            await self.backoff.sleep(self.backoff.delay(failures))
            return None
        self._refused_requests += 1
        if not self._answered and self._refused_requests >= _REFUSALS_BEFORE_STOP:
            raise StopRun(f"{failure}: so it is for every request; check --model, and that the SDK is up to date")
        return Opinion("invalid", reason=f"the request was refused: {failure}")

    async def _create(self, parameters: dict[str, Any]) -> Mapping[str, Any]:
        """One attempt. The raw reply is read by us: the SDK lets HTML and wrong shapes through."""
        reply = await calling(lambda: self.client().messages.with_raw_response.create(**parameters))
        try:
            message = json.loads(reply.http_response.content)
        except ValueError:
            raise Failure("a reply that is no JSON", again=True) from None
        if not isinstance(message, dict) or message.get("type") != "message":
            raise Failure("a reply that is no message", again=True)
        return message


def unsendable(question: str, answer: str) -> Opinion | None:
    """An opinion on texts that no request can carry, else None."""
    if has_lone_surrogate(question + answer):
        return Opinion("invalid", reason="the text holds a lone surrogate, which no request can carry")
    return None


async def calling(request: Callable[[], Awaitable[_Result]]) -> _Result:
    """Await a call of the SDK. Whatever goes wrong comes back as a Failure that says what to do about it.

    Raises MissingExtraError without the SDK, StopRun without a key.
    """
    anthropic = _sdk()
    import httpx2

    try:
        return await request()
    except anthropic.APIStatusError as error:
        raise Failure.from_status(error) from None
    except (anthropic.APIConnectionError, httpx2.TransportError) as error:
        raise Failure(f"no answer ({type(error).__name__})", again=True) from None
    except ValueError:
        raise Failure("a reply that is no JSON", again=True) from None
    except TypeError as error:
        # the SDK's way to say that there is no key; anything else is a fault of ours
        if "authentication" not in str(error):
            raise
        raise StopRun("no key: set ANTHROPIC_API_KEY to use the Claude judge") from None


class Failure(Exception):
    """One attempt that failed. `status` is None where no status says that nothing was charged."""

    def __init__(
        self,
        what: str,
        *,
        status: int | None = None,
        again: bool = False,
        busy: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(what)
        self.status, self.again, self.busy, self.retry_after = status, again, busy, retry_after

    @classmethod
    def from_status(cls, error: Any) -> Failure:
        """From the SDK's APIStatusError: by status and error type, never by its words."""
        status, kind = int(error.status_code), str(error.type or "error")
        headers = error.response.headers
        asked_again = headers.get("x-should-retry") == "true"
        return cls(
            f"HTTP {status} {kind}",
            status=status,
            again=status in _AGAIN or status >= 500 or asked_again,
            busy=kind in ("overloaded_error", "rate_limit_error"),
            retry_after=retry_after(headers),
        )


def make_client(timeout: float) -> Any:
    """An AsyncAnthropic without retries of its own. Raises MissingExtraError without the SDK, UsageError for a key that
    no request can carry."""
    for name in _KEYS:
        check_secret(os.environ.get(name), name, f"set {name} again, without quotes and line ends")
    return _sdk().AsyncAnthropic(max_retries=0, timeout=timeout)


def _sdk() -> Any:
    try:
        import anthropic
    except ImportError:
        raise MissingExtraError("anthropic", "judge", "the Claude judge") from None
    return anthropic
