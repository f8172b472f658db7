"""Time until `corefmem demo` is there, and until its answer follows an edited chain.

    python benchmarks/demo.py            # a minute on two cores; needs Chromium and its driver
    python benchmarks/demo.py --quick    # a few edits, not recorded

The command starts in a process of its own, a browser without a window clicks. An edit cuts a token
from its chain, in a story of three sentences and in one of 21; it counts from the click until the
page draws the chains and the answer anew.
"""

import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import records
from processes import COREFMEM, HERE

from keras_corefmem.utils.markdown import markdown_table
from tuning.workers import free_port

PRESET, EDITS = "ga_coref_gru_babi_1", 20
# Stories, by how often they tell three sentences.
STORIES = {"3 sentences": 1, "21 sentences": 7}
# Clicks, and calls back with the time once the drawn chain of a token is another. The page takes no
# click before the last answer is not only drawn, but done with.
EDIT = """
const [button, done] = arguments;
const chain = () => [...document.querySelectorAll('#answer-view g.token')].map(
    token => token.dataset.chain).join();
const before = chain();
setTimeout(() => {
    const start = performance.now();
    const watch = new MutationObserver(() => {
        if (chain() && chain() !== before) { watch.disconnect(); done(performance.now() - start); }
    });
    watch.observe(document.body, {childList: true, subtree: true});
    document.getElementById(button).click();
}, 100);
"""


def wait_for(address, process):
    limit = time.monotonic() + 300
    while process.poll() is None and time.monotonic() < limit:
        try:
            return urllib.request.urlopen(address, timeout=5).status
        except urllib.error.HTTPError:
            raise
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"corefmem demo does not answer; it ended with {process.poll()}")


def measure(edits):
    """Seconds until the page is there, and milliseconds of each edit, by story."""
    sys.path.insert(0, str(HERE.parent))
    from tests.support.browser import browser, find_programs
    from tests.zoo.serving.test_demo import PASSAGE, QUESTION, Page

    port, start = free_port(), time.perf_counter()
    address = f"http://127.0.0.1:{port}"
    command = [*COREFMEM, "demo", PRESET, "--port", str(port)]
    process = subprocess.Popen(command, cwd=HERE.parent, stdout=subprocess.DEVNULL)
    try:
        wait_for(address, process)
        opened = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as folder, browser(find_programs(), folder) as driver:
            driver.set_script_timeout(60)
            driver.get(address)
            page = Page(driver)
            page.wait_for("answer-view", "sandra")
            figures = {}
            for name, repeats in STORIES.items():
                page.ask(PASSAGE * repeats, QUESTION)
                page.wait_for("answer-view", f"{3 * repeats} {PASSAGE[-1]}")
                page.choose("token", "13 john")
                figures[name] = []
                for _ in range(edits):
                    figures[name].append(driver.execute_async_script(EDIT, "cut"))
                    driver.execute_async_script(EDIT, "reset")
    finally:
        process.terminate()
        process.wait()
    return {"opened": opened, **figures}


def make_table(content):
    """The figures as Markdown."""
    rows = [("", "seconds"), ("until the page is there", f"{content['opened']:.1f}")]
    for name in STORIES:
        first, *others = content[name]
        rows += [
            (f"first edit of {name}", f"{first / 1000:.2f}"),
            (f"{len(others)} more, median", f"{statistics.median(others) / 1000:.2f}"),
            (f"{len(others)} more, longest", f"{max(others) / 1000:.2f}"),
        ]
    return markdown_table(rows)


def main():
    quick = records.make_parser(__doc__).parse_args().quick
    records.publish("demo", make_table, measure(3 if quick else EDITS), quick)


if __name__ == "__main__":
    main()
