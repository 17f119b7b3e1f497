"""Which key stops, warns, copies or quits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.tui.quitting import AGAIN_WITHIN_S, Quitting, Wish

IDLE = {"answering": False, "empty": False, "selected": False}


def press(quitting, key, now=0.0, **state):
    return quitting.press(key, now=now, **{**IDLE, **state})


@pytest.mark.parametrize("key", ["ctrl+c", "escape"])
def test_while_answering_it_stops_however_often(key):
    quitting = Quitting()
    assert [press(quitting, key, now, answering=True) for now in (0.0, 0.1, 0.2)] == [Wish.STOP] * 3


def test_idle_ctrl_c_twice_quits():
    quitting = Quitting()
    assert press(quitting, "ctrl+c", 10.0) is Wish.WARN
    assert press(quitting, "ctrl+c", 10.0 + AGAIN_WITHIN_S) is Wish.QUIT


def test_the_second_ctrl_c_may_come_too_late():
    quitting = Quitting()
    assert press(quitting, "ctrl+c", 10.0) is Wish.WARN
    assert press(quitting, "ctrl+c", 10.1 + AGAIN_WITHIN_S) is Wish.WARN


def test_another_key_between_disarms():
    quitting = Quitting()
    press(quitting, "ctrl+c", 0.0)
    assert press(quitting, "a", 0.1) is Wish.NOTHING
    assert press(quitting, "ctrl+c", 0.2) is Wish.WARN


def test_mashing_ctrl_c_mid_answer_never_quits_at_once():
    quitting = Quitting()
    assert press(quitting, "ctrl+c", 0.0, answering=True) is Wish.STOP
    assert press(quitting, "ctrl+c", 0.1) is Wish.WARN


def test_ctrl_c_copies_what_is_selected_whatever_goes_on():
    for answering in (True, False):
        assert press(Quitting(), "ctrl+c", answering=answering, selected=True) is Wish.COPY


def test_ctrl_d_quits_only_at_an_empty_prompt():
    assert press(Quitting(), "ctrl+d", empty=True) is Wish.QUIT
    assert press(Quitting(), "ctrl+d", empty=False) is Wish.NOTHING


def test_idle_escape_does_nothing():
    assert press(Quitting(), "escape") is Wish.NOTHING


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ctrl+c", "escape", "ctrl+d", "a"]), st.booleans(), st.floats(min_value=0, max_value=5)
        )
    )
)
def test_without_ctrl_q_only_two_idle_ctrl_c_in_time_quit(presses):
    quitting, now, before = Quitting(), 0.0, None
    for key, answering, gap in presses:
        now += gap
        wish = press(quitting, key, now, answering=answering)
        if wish is Wish.QUIT:
            assert before == ("ctrl+c", False) and key == "ctrl+c" and not answering and gap <= AGAIN_WITHIN_S + 1e-9
        before = (key, answering)
    assert press(quitting, "ctrl+q", now) is Wish.QUIT
