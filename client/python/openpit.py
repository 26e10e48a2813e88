"""A client for Openpit and other commodity rates services with the same interface.

One file, no dependencies, Python 3.9 or newer:

    from openpit import Openpit

    client = Openpit("https://rates.example.org", key="pit_live_...")
    print(client.latest(["XAU"])["rates"]["XAU"])
    for row in client.history(["XAU"], "2000-01-01", "2024-05-14", interval="month").rows():
        print(row["date"], row["close"])
"""

from __future__ import annotations

import gzip
import http.client
import json
import random
import re
import secrets
import socket
import threading
import time
import zlib
from collections import OrderedDict
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import urlencode, urlsplit

__version__ = "0.1.0"

Json = Dict[str, Any]


class OpenpitError(Exception):
    """Any failed call. The text says what is wrong, and `advice` what to do about it."""

    advice = "If the message does not help, send the operator of the service the request id."

    def __init__(
        self,
        message: str,
        code: str = "",  # pickling passes only the message, and restores the rest afterwards
        status: int = 0,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        reset_at: Optional[int] = None,
        may_be_counted: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.reset_at = reset_at
        #: Whether the service may have counted the request although there is no answer.
        self.may_be_counted = may_be_counted


class InvalidRequest(OpenpitError):
    """400 and other errors in the request itself."""

    advice = "Change the request as the message says. Sending it again does not help."


class InvalidKey(OpenpitError):
    """401: no key, or one that is unknown, expired or revoked."""

    advice = 'Check the argument "key", or create a new key.'


class NotAllowed(OpenpitError):
    """403: the account or the plan does not allow it."""

    advice = "Call capabilities() to see what the key may do, or ask the operator of the service."


class NotFound(OpenpitError):
    """404: an unknown path, symbol or currency, or no data."""

    advice = "Change the request as the message says. symbols() has the codes and the first day of each."


class RateLimited(OpenpitError):
    """429: more requests per second than the plan allows, even after the retries."""

    advice = "Send fewer requests at a time; other programs of the account count as well."


class QuotaExhausted(OpenpitError):
    """429: the monthly quota is used up, or less is left than the request costs."""

    advice = 'Wait until "reset_at", or ask for a larger plan.'


class Unavailable(OpenpitError):
    """503: the service is starting or cannot reach its database, even after the retries."""

    advice = "Try again in a minute."


class ConnectionLost(OpenpitError):
    """No complete answer arrived, or `already_charged`: it is no longer available."""

    @property
    def advice(self) -> str:  # type: ignore[override]
        if not self.may_be_counted:
            return "Check the URL and the network."
        return "The request may have been counted, so it was not repeated. Call again if another unit does not matter."


_CLASSES = {
    400: InvalidRequest,
    401: InvalidKey,
    403: NotAllowed,
    404: NotFound,
    405: InvalidRequest,
    414: InvalidRequest,
    429: RateLimited,
    503: Unavailable,
    "account_suspended": NotAllowed,
    "invalid_key": InvalidKey,
    "quota_exhausted": QuotaExhausted,
    "history_not_in_plan": NotAllowed,
    "LIMIT_REACHED": QuotaExhausted,
    "already_charged": ConnectionLost,
}

#: Paths that never cost a unit, so that they can be repeated at any time.
_FREE = re.compile(r"^/(usage|account|units|feeds|health)\b")
#: Requests that read the ledger, which cost a unit whatever their outcome.
_READS_LEDGER = re.compile(r"/rates/revisions\b|[?&](asOf=|interval=(minute|5min|15min|hour)\b)", re.I)
#: Tables as text. The service does not keep long ones, so it would count a repeat.
_TEXT_TABLE = re.compile(r"\.(csv|ndjson)\b|[?&]format=(csv|ndjson)\b", re.I)
#: Media types of tables.
_TEXT_TABLES = ("text/csv", "application/x-ndjson")
_PARQUET = "application/vnd.apache.parquet"
#: What a URL must not contain unencoded.
_NOT_IN_URL = re.compile(r"[^!-~]")
_HAS_PRICES = re.compile(r"^/(rates|market|units)\b")
#: Fields of answers with prices that are integers, and no prices.
_INTEGER_FIELDS = frozenset(("count", "timestamp", "revision", "cost", "remaining", "resetAt"))
#: Longer waits are left to the caller.
_WAIT_SECONDS_MAX = 60
_CACHE_ENTRIES_MAX = 64
_CACHE_BYTES_MAX = 262_144
#: A stream sends something at least every 5 s.
_SILENCE_SECONDS_MAX = 20
_STREAM_TYPE = "text/event-stream"
#: How many characters of an unexpected body an error shows.
_SHOWN_LENGTH = 80


class _Answer(NamedTuple):
    """The body of a successful answer, decompressed."""

    body: bytes
    #: Its media type.
    type: str


class Openpit:
    """A client. It may be used by several threads."""

    def __init__(
        self,
        url: str,
        key: Optional[str] = None,
        version: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = 4,
        exact: bool = False,
    ) -> None:
        """`version` ("v1", "v2", "v3") becomes the base path. `exact` returns prices as Decimal, with the published digits."""
        base = url.rstrip("/")
        if version and not base.endswith("/" + version):
            base += "/" + version
        self._base = urlsplit(base)
        if self._base.scheme not in ("http", "https") or not self._base.hostname:
            raise ValueError(f"url must be an address with http:// or https:// (received {url!r})")
        if "@" in self._base.netloc or re.search("[?#]", base):
            raise ValueError("url must end with its path: a user, a query or a fragment would not be sent")
        if " " in self._base.netloc or _NOT_IN_URL.search(self._base.path):
            raise ValueError(f"url contains characters that must be encoded (received {url!r})")
        self._key = key.strip() if key else key  # from a file, it ends in a line break
        self._timeout = timeout
        self._retries = retries
        self._exact = exact
        self._pace = _Pace()
        self._cache: "OrderedDict[str, Tuple[str, _Answer]]" = OrderedDict()
        self._lock = threading.Lock()

    def symbols(self) -> Json:
        """All symbols."""
        return self.get("/symbols")

    def latest(self, symbols: Sequence[str], **parameters: Any) -> Json:
        """The newest price of each symbol. Parameters: quote, unit, metadata."""
        return self.get("/rates/latest", symbols=symbols, **parameters)

    def historical(self, symbols: Sequence[str], date: str, **parameters: Any) -> Json:
        """Open, high, low and close of one day. Parameters: quote, unit, metadata, asOf."""
        return self.get("/rates/historical", symbols=symbols, date=date, **parameters)

    def time_series(self, symbols: Sequence[str], start: str, end: str, **parameters: Any) -> Json:
        """Open, high, low and close of every day of a range."""
        return self.get("/rates/time-series", symbols=symbols, startDate=start, endDate=end, **parameters)

    def fluctuation(self, symbols: Sequence[str], start: str, end: str, **parameters: Any) -> Json:
        """The change between two days."""
        return self.get("/rates/fluctuation", symbols=symbols, startDate=start, endDate=end, **parameters)

    def statistics(self, symbols: Sequence[str], start: str, end: str, **parameters: Any) -> Json:
        """Statistics of the closes of a range, and the correlations of the symbols."""
        return self.get("/rates/statistics", symbols=symbols, startDate=start, endDate=end, **parameters)

    def history(self, symbols: Sequence[str], start: str, end: str, **parameters: Any) -> "HistoryPages":
        """Prices by interval over any range, page by page. Parameters: interval, transform, period, moving, quote, unit."""
        if parameters.get("format") not in (None, "json"):
            raise ValueError('history() reads pages of JSON: for a table, call get("/rates/history", format=..., ...)')
        return HistoryPages(self, {"symbols": symbols, "startDate": start, "endDate": end, **parameters})

    def stream(self, symbols: Sequence[str]) -> Iterator[Json]:
        """The newest price of each symbol, now and whenever it changes. Each connection costs a unit, and each hundred events."""
        return _stream(self, self._target("/rates/stream", {"symbols": symbols}))

    def usage(self) -> Json:
        """Plan, quota and usage of the month. Free."""
        return self.get("/usage")

    def capabilities(self) -> Json:
        """What the key may do. Free."""
        return self.get("/account/capabilities")

    def dry_run(self, path: str, **query: Any) -> Json:
        """What a request would cost, and whether it would be admitted. Free."""
        return self.get(path, dryRun=True, **query)

    def get(self, path: str, **query: Any) -> Any:
        """Any path of the service. A table of CSV or NDJSON is a str, one of Parquet is bytes."""
        body, media_type = self._get(path, query)[0]
        if media_type == _PARQUET:
            return body
        text = body.decode("utf-8", "replace")
        if media_type in _TEXT_TABLES:
            return text
        return self._parse(text) if _HAS_PRICES.match(path) else json.loads(text)

    def _get(self, path: str, query: Json) -> Tuple[_Answer, bool]:
        """The answer, and whether the service has repeated the id of the request."""
        target = self._target(path, query)
        is_free = bool(_FREE.match(path)) or bool(re.search(r"[?&]dryRun=true\b", target))
        reads_ledger = bool(_READS_LEDGER.search(target))
        is_recognizable = not reads_ledger and not _TEXT_TABLE.search(target)
        request_id = "once-" + secrets.token_hex(12)
        started = time.monotonic()
        tries = 0
        while True:
            try:
                return self._try(target, request_id)
            except OpenpitError as error:
                wait = _retry_seconds(error, tries) if tries < self._retries else None
                if wait is None:
                    raise
                tries += 1
                may_be_counted = error.may_be_counted or (reads_ledger and error.status >= 500)
                may_cost_twice = may_be_counted and not is_free
                if may_cost_twice and not is_recognizable:
                    raise
                time.sleep(wait)
                if may_cost_twice and not self._is_recognized(started):
                    raise

    def _is_recognized(self, started: float) -> bool:
        """Whether the process that may have counted a request is the one that serves now, and recognizes the request."""
        try:
            answer, keeps_ids = self._get("/account/capabilities", {})
        except OpenpitError:
            return False  # a service without it
        known = json.loads(answer.body).get("idempotency")
        elapsed = time.monotonic() - started
        return bool(keeps_ids and known and elapsed < known["keptSeconds"] / 2 and elapsed + 1 < known["uptimeSeconds"])

    def _try(self, target: str, request_id: str) -> Tuple[_Answer, bool]:
        with self._lock:
            known = self._cache.get(target)
        headers = {"x-request-id": request_id, "accept-encoding": "gzip"}
        if known:
            headers["if-none-match"] = known[0]
        connection, response = self._send(target, headers, self._timeout)
        try:
            body = response.read()
            if response.getheader("content-encoding") == "gzip":
                body = gzip.decompress(body)
        except (OSError, http.client.HTTPException, EOFError, zlib.error) as error:
            raise _lost(error, True) from error
        finally:
            connection.close()
        keeps_ids = response.getheader("x-request-id") == request_id
        if response.status == 304 and known:
            return known[1], keeps_ids
        answer = _Answer(body, _media_type(response))
        if response.status >= 300 or answer.type not in (*_TEXT_TABLES, _PARQUET):
            _require_success(response, body.decode("utf-8", "replace"))
        self._remember(target, response.getheader("etag"), answer)
        return answer, keeps_ids

    def _remember(self, target: str, etag: Optional[str], answer: _Answer) -> None:
        with self._lock:
            self._cache.pop(target, None)
            if etag is None or len(answer.body) > _CACHE_BYTES_MAX:
                return
            self._cache[target] = (etag, answer)
            if len(self._cache) > _CACHE_ENTRIES_MAX:
                self._cache.popitem(last=False)

    def _send(
        self, target: str, headers: Dict[str, str], timeout: float
    ) -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Sends one request on a connection of its own, and returns when the headers of its response have arrived."""
        is_secure = self._base.scheme == "https"
        connect = http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        connection = connect(self._base.hostname or "", self._base.port, timeout=timeout)
        if self._key is not None:
            headers = {**headers, "x-api-key": self._key}
        request = self._pace.enter()
        try:
            try:
                connection.connect()
            except OSError as error:
                raise _lost(error, False) from error
            try:
                connection.request("GET", target, headers=headers)
                response = connection.getresponse()
            except (OSError, http.client.HTTPException) as error:
                raise _lost(error, True) from error
            self._pace.learn(response.getheader("ratelimit-policy"), response.status < 400)
            return connection, response
        except BaseException:
            connection.close()
            raise
        finally:
            self._pace.leave(request)

    def _target(self, path: str, query: Json) -> str:
        if not path.startswith("/") or _NOT_IN_URL.search(path):
            raise ValueError(f"path must begin with / and be encoded, such as with urllib.parse.quote (received {path!r})")
        pairs = [(name, _text(value)) for name, value in query.items() if value is not None]
        mark = "&" if "?" in path else "?"
        return self._base.path + path + (mark + urlencode(pairs) if pairs else "")

    def _parse(self, text: str) -> Json:
        if not self._exact:
            return json.loads(text)
        return json.loads(text, parse_float=Decimal, parse_int=Decimal, object_hook=_with_integers)


class HistoryPages:
    """All pages of a history, in order. After an error, iterating again continues with the page that failed."""

    def __init__(self, client: Openpit, query: Json) -> None:
        self._client = client
        self._query = query
        self._cursor: Optional[str] = None
        self._is_done = False
        #: The rows of the last page that rows() has not delivered yet.
        self._rest: Iterator[Json] = iter(())

    def __iter__(self) -> Iterator[Json]:
        while not self._is_done:
            page = self._client.get("/rates/history", **self._query, cursor=self._cursor)
            self._cursor = page["next"]
            self._is_done = page["next"] is None
            yield page

    def rows(self) -> Iterator[Json]:
        """The rows of all pages. A loop that ends early can be continued with another one."""
        yield from self._rest
        for page in self:
            self._rest = iter(page["rates"])
            yield from self._rest

    def to_pandas(self) -> Any:
        """The rows of all pages as a DataFrame. Needs pandas."""
        return _frame(list(self.rows()))


def to_pandas(answer: Json) -> Any:
    """An answer of latest, historical, time_series, fluctuation or statistics as a DataFrame. Needs pandas."""
    if "statistics" in answer:
        return _frame([{"symbol": code, **record} for code, record in answer["statistics"].items()])
    rates = answer["rates"]
    if "startDate" in answer and all(re.fullmatch(r"\d{4}-\d\d-\d\d", name) for name in rates):
        return _frame([{"date": day, "symbol": code, **bar} for day, bars in rates.items() for code, bar in bars.items()])
    day = {"date": answer["date"]} if "date" in answer else {}
    return _frame(
        [
            {"symbol": code, **day, **(rate if isinstance(rate, dict) else {"rate": rate})}
            for code, rate in rates.items()
        ]
    )


def _frame(rows: List[Json]) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: pip install pandas") from error
    frame = pandas.DataFrame(rows)
    if "date" in frame:
        frame["date"] = pandas.to_datetime(frame["date"])
    return frame


class _Pace:
    """Keeps a client below the burst limit: the service counts a request before it answers it."""

    def __init__(self) -> None:
        #: Unknown before the first answer: until then, one request at a time.
        self._limit: float = 1
        self._window = 1.0
        self._lock = threading.Lock()
        #: When recent requests were answered; infinity while one is in progress.
        self._answered: List[List[float]] = []

    def learn(self, policy: Optional[str], is_success: bool) -> None:
        found = re.search(r'"burst";q=(\d+);w=(\d+)', policy or "")
        with self._lock:
            if found:
                self._limit = max(1, int(found[1]) - 1)  # one less: it covers all programs of the account
                self._window = float(found[2])
            elif is_success:
                self._limit = float("inf")

    def enter(self) -> List[float]:
        while True:
            with self._lock:
                since = time.monotonic() - self._window
                self._answered = [one for one in self._answered if one[0] > since]
                if len(self._answered) < self._limit:
                    request = [float("inf")]
                    self._answered.append(request)
                    return request
            time.sleep(self._window / 20)

    @staticmethod
    def leave(request: List[float]) -> None:
        request[0] = time.monotonic()


def _stream(client: Openpit, target: str) -> Iterator[Json]:
    """Reconnects with the id of the last event, so that no change is missed or delivered twice."""
    last_id = ""
    last: Dict[str, str] = {}
    failures = 0
    while True:
        try:
            for event_id, data in _connect(client, target, last_id):
                failures = 0
                source, number = _split(event_id)
                last_source, last_number = _split(last_id)
                if source == last_source and number <= last_number:
                    continue
                last_id = event_id
                rate = client._parse(data)
                if last.get(rate["symbol"]) == data:
                    continue
                last[rate["symbol"]] = data
                yield rate
        except OpenpitError as error:
            wait = error.retry_after
            if wait is None and isinstance(error, (ConnectionLost, Unavailable)):
                wait = _backoff(failures, 0.25)
            if wait is None or wait > _WAIT_SECONDS_MAX:
                raise
            failures += 1
            time.sleep(wait)


def _connect(client: Openpit, target: str, last_id: str) -> Iterator[Tuple[str, str]]:
    """One connection: the ids and data of its rates. It always ends with an error."""
    headers = {"accept": _STREAM_TYPE}
    if last_id:
        headers["last-event-id"] = last_id
    connection, response = client._send(target, headers, _SILENCE_SECONDS_MAX)
    try:
        if response.status != 200:
            _require_success(response, response.read().decode("utf-8", "replace"))
        if not response.getheader("content-type", _STREAM_TYPE).startswith(_STREAM_TYPE):
            raise _unexpected(response, response.read().decode("utf-8", "replace"), "a stream of events")
        event = {"id": "", "event": "message", "data": ""}
        while True:
            line = response.readline().decode("utf-8")
            if line == "":
                raise _lost(EOFError("the stream ended"), False)
            name, _, value = line.rstrip("\r\n").partition(":")
            if line.strip() != "":
                event[name] = value[1:] if value.startswith(" ") else value
                continue
            if event["event"] == "rate" and event["data"]:
                yield event["id"], event["data"]
            elif event["event"] == "end":
                body = json.loads(event["data"])
                raise _error(503 if body.get("code") == "unavailable" else 0, body, None)
            event = {"id": "", "event": "message", "data": ""}
    except (OSError, http.client.HTTPException) as error:
        raise _lost(error, False) from error
    finally:
        connection.close()


def _split(event_id: str) -> Tuple[str, int]:
    source, _, number = event_id.rpartition("-")
    return source, int(number) if number.isdigit() else 0


def _require_success(response: http.client.HTTPResponse, text: str) -> None:
    """Raises the error of a response that is not a success."""
    if 300 <= response.status < 400 and response.status != 304:
        raise OpenpitError(
            f'Received a redirect to {response.getheader("location")}, which must not get the key. Check the argument "url".',
            "redirected",
            response.status,
        )
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise _unexpected(response, text, "a JSON object")
    if response.status >= 400 or body.get("success") is False:
        raise _error(response.status, body, response)


def _unexpected(response: http.client.HTTPResponse, text: str, expected: str) -> OpenpitError:
    """The error of a response that is not from the service: it says what was received, and what to check."""
    start = " ".join(text[:_SHOWN_LENGTH].split())
    kind = _media_type(response) or "text"
    received = f'{kind} with the status {response.status} ("{start}")'
    if not start:
        received = f"an empty body with the status {response.status}"
    return OpenpitError(
        f'Received {received} where {expected} was expected. Check the argument "url", and proxies and gateways in between.',
        "invalid_response",
        response.status,
        response.getheader("x-request-id"),
        may_be_counted=True,
    )


def _error(status: int, body: Json, response: Optional[http.client.HTTPResponse]) -> OpenpitError:
    # A gateway may send anything under the names of our fields.
    message, text, own_code = (
        value if isinstance(value, str) else "" for value in (body.get(name) for name in ("message", "error", "code"))
    )
    family = text if re.fullmatch("[A-Z_]+", text) else None  # /usage has its message there
    code = own_code or family or f"http_{status}"
    kind = _CLASSES.get(code) or _CLASSES.get(status) or OpenpitError
    header = response.getheader if response else lambda name: None
    return kind(
        message or text or f"The service answered with the status {status}.",
        code,
        status,
        header("x-request-id"),
        _seconds(header("retry-after") or ""),
        body.get("resetAt"),
        # A gateway does not know whether the request was counted.
        code == "already_charged" or (status >= 500 and body.get("success") is not False),
    )


def _seconds(retry_after: str) -> Optional[float]:
    """A `Retry-After`: a number of seconds, or a date."""
    if re.fullmatch(r"[0-9]+", retry_after):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _with_integers(fields: Json) -> Json:
    for name in _INTEGER_FIELDS & fields.keys():
        if isinstance(fields[name], Decimal):
            fields[name] = int(fields[name])
    return fields


def _lost(cause: BaseException, is_sent: bool) -> ConnectionLost:
    code = "timeout" if isinstance(cause, (socket.timeout, TimeoutError)) else "connection_lost"
    what = "The connection was lost" if is_sent else "There is no connection"
    return ConnectionLost(f"{what}: {cause!r}", code, may_be_counted=is_sent)


def _retry_seconds(error: OpenpitError, tries: int) -> Optional[float]:
    """How long to wait before a retry; None if a retry would not help."""
    if isinstance(error, QuotaExhausted) or (error.status not in (0, 429) and error.status < 502):
        return None
    if error.retry_after is None:
        return _backoff(tries, 0.5)
    return None if error.retry_after > _WAIT_SECONDS_MAX else error.retry_after + random.random() / 4


def _backoff(tries: int, first: float) -> float:
    return min(30.0, first * 2**tries) * (0.5 + random.random() / 2)


def _media_type(response: http.client.HTTPResponse) -> str:
    return response.getheader("content-type", "").split(";")[0].strip().lower()


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    return ",".join(map(str, value))
