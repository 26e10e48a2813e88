"""The scenario of scenario.ts, for the client in Python: scenario.py FUNCTION JSON."""

import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "client" / "python"))
from openpit import ConnectionLost, Openpit, OpenpitError  # noqa: E402


def sendRequests(url, key, days):
    client = Openpit(url, key=key, retries=10)
    outcome = {"rows": [], "pages": 0, "days": [], "failures": []}
    try:
        for page in client.history(["XAU", "XAG"], "2000-01-01", "2024-05-14"):
            outcome["pages"] += 1
            outcome["rows"] += [f"{row['date']} {row['symbol']}" for row in page["rates"]]
    except OpenpitError as error:
        outcome["failures"].append(str(error))
    left = list(days)

    def read_days():
        try:
            while left:
                answer = client.historical(["XAU"], left.pop(), metadata=False)
                outcome["days"].append(answer["date"])
        except OpenpitError as error:
            outcome["failures"].append(str(error))

    threads = [threading.Thread(target=read_days) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcome


def sendOnce(url, key, days):
    client = Openpit(url, key=key, retries=0)
    ends = []
    for day in days:
        try:
            client.historical(["XAU"], day)
            ends.append("answered")
        except ConnectionLost:
            ends.append("lost")
        except OpenpitError as error:
            ends.append(str(error))
    return ends


def listen(url, key, last):
    rates = []
    for event in Openpit(url, key=key).stream(["XAU", "XAG"]):
        rates.append([event["symbol"], event["rate"]])
        if event["symbol"] == "XAU" and event["rate"] >= last:
            return rates


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](**json.loads(sys.argv[2]))))
