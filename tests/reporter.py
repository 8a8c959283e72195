# SPDX-License-Identifier: GPL-2.0
"""For `pytest --tap`: each conftest.py takes the hook from here.

pytest-tap takes the terminal's reporter away.  A comparison that fails asks that reporter for
its colours, and would end in an error of pytest instead of what was compared.  So a reporter
is put back that writes nowhere.
"""

from __future__ import annotations

import io

import pytest
from _pytest.terminal import TerminalReporter


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    if not config.pluginmanager.has_plugin("terminalreporter"):
        config.pluginmanager.register(TerminalReporter(config, io.StringIO()), "terminalreporter")
