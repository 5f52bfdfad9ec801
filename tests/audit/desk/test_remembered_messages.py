"""Messages that are remembered are those of the language that is active, and as safe as they were."""

from __future__ import annotations

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, override, trans_real

from audit.desk.remembered_messages import remember


def test_a_message_is_said_in_the_language_that_is_active() -> None:
    remember()
    for _again in range(2):
        with override("fr"):
            assert gettext("Findings") == "Constats"
            with override("en"):
                assert gettext("Findings") == "Findings"
            assert gettext("Findings") == "Constats"


def test_what_is_remembered_of_markup_is_not_markup_for_a_text_of_the_same_letters() -> None:
    remember()
    with override("fr"):
        assert isinstance(gettext(mark_safe("<b>nobody translates this</b>")), SafeString)
        assert not isinstance(gettext("<b>nobody translates this</b>"), SafeString)
        assert conditional_escape(gettext("<b>nobody translates this</b>")).startswith("&lt;b&gt;")


def test_to_remember_twice_does_not_remember_what_is_remembered() -> None:
    remember()
    found = trans_real.translation("fr").gettext
    remember()
    assert trans_real.translation("fr").gettext is found
