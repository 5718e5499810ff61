"""Our own engines keep the contract that we ship."""

import pytest

from closedform.searching.engine import get_engine
from closedform.testing import EngineContract


class TestTerms(EngineContract):
    evaluations = 100

    @pytest.fixture
    def engine(self):
        return get_engine("terms")


class TestEvolution(EngineContract):
    evaluations = 5000

    @pytest.fixture
    def engine(self):
        pytest.importorskip("pyoperon")
        return get_engine("evolution")


class TestPortfolio(EngineContract):
    evaluations = 600

    @pytest.fixture
    def engine(self):
        return get_engine("auto")


class TestStructure(EngineContract):
    evaluations = 300

    @pytest.fixture
    def engine(self):
        return get_engine("structure")
