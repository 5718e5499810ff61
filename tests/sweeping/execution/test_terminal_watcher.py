import io

from closedform.sweeping.execution.coordinator import Tally, TerminalWatcher, counts


class Terminal(io.StringIO):
    def isatty(self):
        return True


def tally():
    found = Tally(total=10, before=4, began=0.0)
    for label in ("verified", "none", "verified"):
        found.add(label)
    found.add("failed", failed=True)
    return found


def test_counts_say_all():
    found = tally()
    found.began = found._times[-1] - 2.0
    text = counts(found)
    assert text.startswith("8 of 10 done, 1 none, 2 verified, 1 failed, 4 from before, ")
    assert "2/s" in text
    assert "1 s left" in text


def test_rate_and_time_left():
    found = Tally(total=1000)
    assert (found.rate, found.seconds_left, found.share) == (None, None, 0.0)
    for _ in range(300):
        found.add("done")
    # Of the last tasks, whatever came before them.
    found._times.extend([found._times[-1]] * 200)
    first = found._times[0]
    found._times[0] = first - 100.0
    assert found.rate is not None
    assert 1.9 < found.rate <= 2.0
    assert found.seconds_left is not None
    assert 350 <= found.seconds_left < 369


def test_plain_lines_without_a_terminal():
    stream = io.StringIO()
    watcher = TerminalWatcher("sweep", stream=stream)
    for _ in range(50):
        watcher.update(tally())
    watcher.close()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("sweep: 8 of 10 done") for line in lines)


def test_a_bar_in_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "140")
    stream = Terminal()
    watcher = TerminalWatcher("sweep", stream=stream)
    watcher.update(tally())
    watcher.close()
    assert "8 of 10 done" in stream.getvalue()
    assert "1 failed" in stream.getvalue()


def test_closing_without_news_says_nothing():
    stream = io.StringIO()
    TerminalWatcher("sweep", stream=stream).close()
    assert stream.getvalue() == ""
