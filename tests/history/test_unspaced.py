"""Chinese, Japanese and Korean are found inside a run of characters, and other words beside one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_chat.history.search import query
from spark_chat.history.unspaced import indexed, is_run, split
from tests.history.test_search import Kept

RUN = st.text(alphabet="今天气我们去公园が日本語カーか한국어씨東𠮷", min_size=1, max_size=12)
MIXED = st.text(alphabet="今天气カーか한국𠮷ab 3é.,_\n", max_size=20)


@pytest.fixture
def kept(tmp_path: Path):  # type: ignore[no-untyped-def]
    found = Kept(tmp_path)
    yield found
    assert found.journal.close()


def test_a_part_of_a_run_is_found_and_marked(kept: Kept) -> None:
    weather = kept.talk("今天天气很好，我们去公园吧。", "好的！")
    japan = kept.talk("日本語のテキストを検索する", "カタカナもできる")
    korea = kept.talk("내일서울날씨가어때요", "맑습니다")
    assert kept.found("天气") == [weather] and kept.found("公园") == [weather] and kept.found("我们去公园") == [weather]
    assert kept.found("气") == [weather] and kept.found("吧") == [weather], "one character, and a run's last"
    assert kept.found("テキスト") == [japan] and kept.found("検索") == [japan] and kept.found("カナ") == [japan]
    assert kept.found("날씨") == [korea] and kept.found("습니") == [korea]
    assert kept.found("天好") == [] and kept.found("公园今天") == [], "neither what stands apart, nor over a run's end"
    assert kept.found("天气 公园") == [weather] and kept.found("天气 날씨") == []
    (hit,) = kept.search("去公园")
    assert [text for text, is_hit in hit.text if is_hit] == ["去公园"]
    kept.sound()


def test_other_words_beside_a_run_are_found_too(kept: Kept) -> None:
    one = kept.talk("请用Python3写一个café程序", "好")
    two = kept.talk("python alone")
    assert kept.found("python") == [two, one] and kept.found("cafe") == [one]
    assert kept.found("Python3程序") == [one] and kept.found("python 写") == [one] and kept.found('"python3"') == [one]
    assert kept.found("ython") == []
    (hit,) = kept.search("程序 python3")
    assert [text for text, is_hit in hit.text if is_hit] == ["Python3", "程序"]
    kept.sound()


def test_a_title_and_a_change_are_followed(kept: Kept) -> None:
    one = kept.talk("x", "旧的答案")
    kept.shelf.rename(one, "关于天气的AI谈话")
    assert kept.found("天气") == [one] and kept.found("ai谈话") == [one] and kept.found("ai谈判") == []
    assert kept.found("的答") == [one]
    kept.journal.write(one, lambda db: db.execute("UPDATE messages SET text = '新的回答' WHERE text = '旧的答案'"))
    assert kept.found("的答") == [] and kept.found("的回") == [one]
    kept.journal.write(one, lambda db: db.execute("DELETE FROM messages WHERE text = '新的回答'"))
    assert kept.found("的回") == []
    kept.sound()


@given(RUN, RUN, RUN)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_whatever_stands_around_it(kept: Kept, before: str, sought: str, after: str) -> None:
    talk = kept.talk(f"a {before}{sought}{after} b")
    hits = kept.search(sought)
    assert hits[0].listed.conversation == talk
    assert any(is_hit and text == sought for text, is_hit in hits[0].text)


@given(MIXED)
@settings(max_examples=200, deadline=None)
def test_no_text_is_lost_or_an_error(text: str) -> None:
    made = indexed(text.encode())
    assert made.startswith(text) and indexed(text) == made
    assert (made == text) is not any(map(is_run, text))
    assert "".join(split(text)) == text
    wanted = query(text)
    assert bool(wanted.words) is bool(wanted.match)
