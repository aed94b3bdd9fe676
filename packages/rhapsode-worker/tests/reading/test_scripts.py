"""Words of other scripts are left out, and what English reads of them is not."""

import pytest
from rhapsode_worker.reading.scripts import without_foreign_words


@pytest.mark.parametrize(
    "word",
    ["Здравствуйте", "Ελληνικά", "ἄνθρωπος", "Հայերեն", "ქართული", "你好", "こんにちは"]
    + ["안녕하세요", "שלום", "مرحبا", "ไทย", "ሰላም"],
)
def test_a_word_of_another_script_is_left_out(word: str) -> None:
    assert without_foreign_words(f"Say {word}, please.").split() == ["Say", ",", "please."]


@pytest.mark.parametrize(
    "text",
    ["Café naïve façade", "Ångström Øresund", "żółć", "Đặng Thị", "π and the β of it", "5 μm"]
    + ["5 µm", "2º", "𝔥ello", "ﬁne", "ｆｕｌｌ", "½", "Ⅻ", "Hawaiʻi", "🙂 ¿?"],
)
def test_what_english_reads_is_left(text: str) -> None:
    assert without_foreign_words(text) == text
