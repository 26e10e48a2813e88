"""Calls of the client in Python: python-calls.py URL KEY. It fails with an assertion."""

import pickle
import sys
import threading
import time
from decimal import Decimal
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "client" / "python"))
import openpit  # noqa: E402
from openpit import InvalidKey, InvalidRequest, NotFound, Openpit, Unavailable  # noqa: E402

URL, KEY = sys.argv[1:3]
RANGE = (["XAU", "XAG"], "2024-05-10", "2024-05-14")
client = Openpit(URL, key=KEY)


def failure(call):
    try:
        call()
    except openpit.OpenpitError as error:
        return error
    raise AssertionError("it succeeded")


assert client.latest(["XAU", "XAG"])["rates"] == {"XAU": 2358.2, "XAG": 28.5}
assert client.latest("XAU", unit="kg")["metadata"]["XAU"]["unit"] == "Kg"
assert client.historical(["XAU"], "2024-05-13", metadata=False) == {
    "success": True,
    "date": "2024-05-13",
    "rates": {"XAU": {"open": 2336.1, "high": 2336.1, "low": 2336.1, "close": 2336.1}},
}
assert list(client.time_series(*RANGE)["rates"]) == ["2024-05-10", "2024-05-13", "2024-05-14"]
assert client.fluctuation(*RANGE)["rates"]["XAG"]["change"] == 0.4
assert client.statistics(*RANGE)["statistics"]["XAG"]["count"] == 3
assert any(one["symbol"] == "XAU" for one in client.symbols()["symbols"])
assert len(list(client.history(*RANGE).rows())) == 6
assert [row["count"] for row in client.history(*RANGE, interval="month").rows()] == [3, 3]
assert client.dry_run("/rates/latest", symbols=["XAU"])["cost"] == 1
assert client.capabilities()["streams"]["allowed"] is True
assert client.usage()["plan"] == "unlimited"

before = client.usage()["used"]
for _ in range(5):
    client.latest(["XAU", "XAG"])
assert client.usage()["used"] == before, "polling is free while nothing changes"

exact = Openpit(URL, key=KEY, exact=True, version="v2")
assert exact.historical(["XAU"], "2024-05-10")["rates"]["XAU"]["close"] == Decimal("2350.10000000001")
assert exact.historical(["XAU"], "2024-05-10")["rates"]["XAU"]["date"] == "2024-05-10"

latest = exact.latest(["PL"])
assert isinstance(latest["rates"]["PL"], Decimal) and latest["rates"]["PL"] == 1000, latest
assert isinstance(latest["timestamp"], int)
row = next(exact.history(["PL"], "2024-05-14", "2024-05-14").rows())
assert isinstance(row["close"], Decimal) and isinstance(row["count"], int), row
assert isinstance(exact.usage()["used"], int)
assert isinstance(exact.dry_run("/rates/latest", symbols="PL")["cost"], int)

pages = client.history(*RANGE)
begun = [(row["date"], row["symbol"]) for row in islice(pages.rows(), 2)]
dates = begun + [(row["date"], row["symbol"]) for row in pages.rows()]
assert len(dates) == len(set(dates)) == 6, "a loop that ends early can be continued without losing a row"

def invalid(call):
    """The text of a ValueError, which must come before a request is sent."""
    used = client.usage()["used"]
    try:
        call()
    except ValueError as error:
        assert client.usage()["used"] == used
        return str(error)
    raise AssertionError("it succeeded")


used = client.usage()["used"]
query = {"symbols": ["XAU"], "date": "2024-05-13"}
for _ in range(2):  # the second time, from the cache
    assert client.get("/rates/historical.csv", **query).splitlines()[1].startswith("2024-05-13,XAU,2336.1,")
    assert client.get("/rates/historical", **query, format="ndjson").count("\n") == 1
    assert client.get("/rates/historical.parquet", **query)[:4] == b"PAR1"
assert client.usage()["used"] == used + 3
assert client.dry_run("/rates/historical.csv", **query)["cost"] == 1
assert isinstance(failure(lambda: client.get("/rates/historical.csv")), InvalidRequest)
assert "/rates/history" in invalid(lambda: client.history(*RANGE, format="csv"))

for path in ("/rates/latest?symbols=XAU, XAG", "/rates/lat\u00e9st", "/usage\r\nx: y", "rates/latest"):
    assert "encoded" in invalid(lambda: client.get(path, symbols="XAU")), path
assert "encoded" in invalid(lambda: Openpit(URL + "/a b", key=KEY))
assert Openpit(URL, key=KEY + "\n").usage()["plan"] == "unlimited", "a key that was read from a file"

assert client.latest({"XAU": 1}.keys())["rates"] == {"XAU": 2358.2}


class Gateway(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(503)
        self.send_header("Retry-After", formatdate(time.time() + 3600, usegmt=True))
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


gateway = HTTPServer(("127.0.0.1", 0), Gateway)
threading.Thread(target=gateway.serve_forever, daemon=True).start()
away = Openpit(f"http://127.0.0.1:{gateway.server_port}")
for call in (lambda: away.latest(["XAU"]), lambda: next(away.stream(["XAU"]))):
    error = failure(call)
    assert isinstance(error, Unavailable) and error.retry_after > 3500, error
gateway.shutdown()

unknown = failure(lambda: client.latest(["XAUU"]))
assert isinstance(unknown, NotFound) and unknown.code == "unknown_symbol" and unknown.advice, unknown
copied = pickle.loads(pickle.dumps(unknown))
assert type(copied) is NotFound and str(copied) == str(unknown) and vars(copied) == vars(unknown), copied
assert "symbols()" in failure(lambda: client.get("/rate")).advice
assert "as the message says" in failure(lambda: client.get("/rate")).advice
assert isinstance(failure(lambda: exact.latest(["XAUU"])), NotFound)
assert isinstance(failure(lambda: client.latest([])), InvalidRequest)
assert isinstance(failure(lambda: Openpit(URL, key="wrong").latest(["XAU"])), InvalidKey)
assert isinstance(failure(lambda: Openpit(URL).usage()), InvalidKey)
refused = failure(lambda: Openpit("http://127.0.0.1:1", retries=1).symbols())
assert refused.code == "connection_lost" and not refused.may_be_counted, refused

try:
    import pandas  # noqa: F401
except ImportError:
    try:
        openpit.to_pandas(client.latest(["XAU"]))
    except ImportError as error:
        assert "pip install pandas" in str(error)
    print("SKIPPED: to_pandas(), because pandas is not installed")
else:
    frame = client.history(*RANGE).to_pandas()
    assert list(frame.columns[:3]) == ["date", "symbol", "open"] and len(frame) == 6
    assert str(frame["date"].dtype).startswith("datetime64")
    assert len(openpit.to_pandas(client.time_series(*RANGE))) == 6
    assert openpit.to_pandas(client.latest(["XAU"]))["rate"][0] == 2358.2
    assert openpit.to_pandas(client.historical(["XAU"], "2024-05-13"))["close"][0] == 2336.1
    assert openpit.to_pandas(client.fluctuation(*RANGE))["change"][1] == 0.4
    assert openpit.to_pandas(client.statistics(*RANGE))["count"][0] == 3
    print("pandas: ok")
