"""A browser without a window, for tests of pages."""

import shutil

import pytest

OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--window-size=1500,1300"),
)


def find_programs():
    """Paths of the browser and of its driver."""
    pytest.importorskip("selenium")
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in paths:
        pytest.skip("no chromium and chromedriver: apt-get install chromium chromium-driver")
    return paths


def browser(programs, folder):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for option in (*OPTIONS, f"--user-data-dir={folder}"):
        options.add_argument(option)
    return webdriver.Chrome(options=options, service=Service(programs[1]))
