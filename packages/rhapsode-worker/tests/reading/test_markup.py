"""Tags go, what they hold stays."""

import pytest
from rhapsode_worker.reading import sentences_of


def read(text: str) -> str:
    return " / ".join(sentences_of(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<speak>Hello <b>big</b> world.</speak>", "Hello big world."),
        ("un<b>believ</b>able", "unbelievable"),
        ("Wait.<break time='1s'/>Go.", "Wait. / Go."),
        ('<prosody rate="slow" pitch=low>Slow.</prosody>', "Slow."),
        ('Say <phoneme alphabet="ipa" ph="həlˈO">tomato</phoneme>.', "Say tomato."),
        ("<p>One</p><p>Two</p>", "One / Two"),
        ("Hi <yawn> there.", "Hi  there."),
        ("a<!-- not\nthis -->b", "a b"),
        ("<script>alert(1)</script>Hi.", "Hi."),
        ("<?xml version='1.0'?><speak>Hi.</speak>", "Hi."),
        ("<![CDATA[Hi & bye.]]>", "Hi & bye."),
        ("AT&amp;T &#38; R&D", "AT&T & R&D"),
        ("?a=1&copy=2", "?a=1&copy=2"),
        ("&lt;b&gt; is bold.", "<b> is bold."),
    ],
)
def test_tags_go_and_entities_are_what_they_stand_for(text: str, said: str) -> None:
    assert read(text) == said


@pytest.mark.parametrize(
    "text", ["3 < 5", "x <y", "a <b and c> d", "1 <2> 3", "<3", "a < b > c", "->"]
)
def test_signs_that_are_no_tag_are_kept(text: str) -> None:
    assert read(text) == text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Title\nText.", "Title / Text."),
        ("- one\n- [x] two\n* three", "one / two / three"),
        ("> quoted", "quoted"),
        ("> 5 is more", "> 5 is more"),
        ("**bold**, *soft*, __under__, _line_, ~~gone~~", "bold, soft, under, line, gone"),
        ("***both*** and **a *b* c**", "both and a b c"),
        ("snake_case_name 2 * 3", "snake_case_name 2 times 3"),
        ("Use `code`.", "Use code."),
        ("```py\nx\n```", "x"),
        ("a\n\n---\n\nb", "a / b"),
        ("see [the manual](https://a.io/x_(y) 'T')", "see the manual"),
        ("![alt](a.png)", "alt"),
        ("[text][1]", "text"),
        ("it was [sic] so", "it was (sic) so"),
    ],
)
def test_markdown_is_read_without_its_marks(text: str, said: str) -> None:
    assert read(text) == said
