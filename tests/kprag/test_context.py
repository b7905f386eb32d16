"""What lies beside a question, word for word, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from making_bases import tree

from kprag.context import Knowledge, Laid, knowledge_block
from kprag.layout import Layout
from kprag.retrieval.query import questions
from kprag.taxonomy import Node, Taxonomy
from making import choice, open_ended
from mmdyn.context import Context
from mmdyn.errors import UserError
from mmdyn.record import Beside
from mmdyn.sample import Sample, Step, Variant, Verdict

TEXTS = {"Force": "A push or a pull.", "Mass": "How much matter there is.", "Speed": "Way by time."}
BASE = tree(
    Node("ph", "Physics"),
    Node("me", "Mechanics", parent="ph"),
    Node("fo", "Force", parent="me", aliases=("Push",), description="What speeds bodies up."),
    Node("ma", "Mass", parent="me"),
    Node("sp", "Speed", parent="me", description="How fast."),
    Node("fo2", "force", parent="ph", description="Another."),
)


def lay(
    sample: Sample,
    context: str = "kprag",
    layout: Layout = Layout(),  # noqa: B008 frozen
    found: Sequence[str] = (),
    base: Taxonomy | None = BASE,
) -> Laid | None:
    return Knowledge(TEXTS, base, layout).lay(sample, Context.parse(context), found)


def text(laid: Laid | None) -> str:
    assert laid is not None
    return laid.text


@pytest.mark.parametrize(
    ("point", "text", "shown"),
    [
        ("Force", "Forces act on bodies.", "- Force: Forces act on bodies."),
        ("Force", "Force:\nA push or a pull.", "- Force: A push or a pull."),
        ("函数", "函数的定义域是自变量的取值范围。", "- 函数: 函数的定义域是自变量的取值范围。"),
        ("函数", "函数：一种对应关系。", "- 函数: 一种对应关系。"),
        ("Force", "Force\nA push.", "- Force: A push."),
        ("Force", "Force  :A push.\n", "- Force: A push."),
        ("Force", "", "- Force"),
        ("a+b", "a+b: a sum", "- a+b: a sum"),
        ("a->b", "of routes", "- a->b: of routes"),
    ],
)
def test_a_points_name_is_not_said_twice_and_no_word_is_cut(point: str, text: str, shown: str) -> None:
    assert knowledge_block(choice(knowledge_points=(point,)), {point: text}) == shown


def test_own_points_have_the_sets_texts_or_else_the_bases() -> None:
    sample = choice(knowledge_points=("Mass", "Push", "Force", "Nowhere", "force "))
    laid = lay(sample)
    assert laid == Laid(
        "- Mass: How much matter there is.\n- Push: What speeds bodies up.\n- Nowhere",
        Beside(("Mass", "Push", "Nowhere"), own=3, hits=3),
    )
    assert lay(sample, "kprag:none") == lay(sample, "kprag:two-turn") == laid
    assert text(lay(sample, base=None)).split("\n")[1:3] == ["- Push", "- Force: A push or a pull."]


@pytest.mark.parametrize("names", [("Push", "Force"), ("Force", "Push"), ("Push", "fo", "Physics->Force", "FORCE")])
def test_a_point_and_its_alias_are_one_point(names: tuple[str, ...]) -> None:
    base = tree(
        Node("ph", "Physics"), Node("fo", "Force", parent="ph", aliases=("Push",)), Node("x", "Heat", description="h")
    )
    sample = choice(knowledge_points=names)
    gold = lay(sample, base=base)
    assert gold == Laid(
        f"- {names[0]}: A push or a pull." if "Force" in names else f"- {names[0]}", Beside(names[:1], 1, 1)
    )
    control = Knowledge({"Force": "f"}, base, Layout()).lay(sample, Context.parse("distractor"))
    assert control is None or control.beside == Beside(("Heat",), own=1, hits=0)
    found = lay(sample, "kprag:retrieved", found=["x", "fo"], base=base)
    assert found is not None and (found.beside.own, found.beside.hits) == (1, 1)
    (asked,) = questions([sample], base, lambda sample: sample.question).asked
    assert len(asked.gold) == found.beside.own


@pytest.mark.parametrize(
    ("fields", "told"), [({"topic": "Sport"}, "A club."), ({"topic": "animals"}, "It flies."), ({}, "It flies.")]
)
def test_of_homonyms_the_one_that_the_samples_fields_name_is_laid(fields: dict[str, str], told: str) -> None:
    base = tree(
        Node("a", "Animals"),
        Node("s", "Sport"),
        Node("b1", "Bat", "a", description="It flies."),
        Node("b2", "Bat", "s", description="A club."),
    )
    sample = choice(knowledge_points=("Bat",), fields=fields)
    assert text(lay(sample, base=base)) == f"- Bat: {told}"
    above = "Sport" if told == "A club." else "Animals"
    assert text(lay(sample, base=base, layout=Layout(format="routes"))) == f"- {above} -> Bat: {told}"
    assert lay(sample, "kprag:retrieved", found=["b1"], base=base).beside.hits == 1  # type: ignore[union-attr]


def test_names_stand_on_one_line_and_empty_ones_are_no_points() -> None:
    texts = {"Force\nof   bodies": "A push.", "": "x", " ": "y"}
    sample = choice(knowledge_points=("Force\nof   bodies", "", " ", "<image 1>"))
    laid = Knowledge(texts, None, Layout()).lay(sample, Context("gold"))
    assert laid == Laid("- Force of bodies: A push.", Beside(("Force of bodies",), own=1, hits=1))
    assert lay(choice(knowledge_points=(" ", "")), base=None) is None
    base = tree(Node("h", "High\nup"), Node("t", "Two\n\nlines", "h", description="d"))
    assert text(lay(choice(), "kprag:retrieved", Layout(format="routes"), ["t"], base)) == "- High up -> Two lines: d"


def test_marks_of_pictures_are_left_out_of_texts_and_hints() -> None:
    base = tree(Node("h", "Heat", description="See <image 12> here."), Node("m", "Mass", description="<image 1>"))
    sample = choice(knowledge_points=("Heat", "Ice"), hints={"method": "Look at <image 1>.", "background": "<image 2>"})
    laid = Knowledge({"Ice": "Cold<image 2>, as <image>."}, base, Layout()).lay(sample, Context("gold"))
    assert text(laid) == "- Heat: See here.\n- Ice: Cold, as <image>."
    assert text(lay(choice(), "kprag:retrieved", found=["h", "m"], base=base)).split("\n") == [
        "- Heat: See here.",
        "- Mass: How much matter there is.",
    ]
    assert lay(sample, "hint:all") == Laid("method:\nLook at.", Beside(("method",)))
    assert lay(sample, "hint:background") is None


def test_what_was_found_stands_best_first_each_name_once() -> None:
    sample = choice(knowledge_points=("Push", "Mass"))
    laid = lay(sample, "kprag:retrieved", found=["sp", "fo", "fo2", "me", "ma"])
    assert laid == Laid(
        "- Speed: How fast.\n- Force: What speeds bodies up.\n- Mechanics",
        Beside(("Speed", "Force", "Mechanics"), own=2, hits=1),
    )
    assert lay(choice(), "kprag:retrieved", Layout(k=1), ["ma"]) == Laid(
        "- Mass: How much matter there is.", Beside(("Mass",))
    )


def test_own_points_come_before_what_was_found_beside_them() -> None:
    sample, found = choice(knowledge_points=("Push", "Mass")), ["fo", "sp", "ma", "me"]
    assert lay(sample, "kprag:mixed", found=found) == Laid(
        "- Push: What speeds bodies up.\n- Mass: How much matter there is.\n- Speed: How fast.",
        Beside(("Push", "Mass", "Speed"), own=2, hits=2),
    )
    assert lay(sample, "kprag:mixed", Layout(k=1), found) == lay(sample) == lay(sample, "kprag:mixed")


@pytest.mark.parametrize(
    ("context", "sample"),
    [
        ("kprag", choice()),
        ("kprag:mixed", choice()),
        ("kprag:retrieved", choice(knowledge_points=("Force",))),
        ("distractor", choice()),
        ("distractor", choice(knowledge_points=("Force", "Mass", "Speed", "Energy"))),
        ("hint:all", choice(hints={"background": " "})),
        ("hint:method", choice(hints={"background": "Ice is cold."})),
    ],
)
def test_a_sample_without_what_a_context_needs_is_not_asked(context: str, sample: Sample) -> None:
    assert lay(sample, context) is None
    if context == "distractor":
        assert lay(sample, context, base=None) is None


def test_formats() -> None:
    sample = choice(knowledge_points=("Push", "Nowhere", "Mechanics->Speed"))
    assert text(lay(sample, layout=Layout(format="names"))) == "- Push\n- Nowhere\n- Mechanics->Speed"
    assert text(lay(sample, layout=Layout(format="routes"))).split("\n") == [
        "- Physics -> Mechanics -> Push: What speeds bodies up.",
        "- Nowhere",
        "- Physics -> Mechanics -> Speed: How fast.",
    ]
    found = lay(sample, "kprag:retrieved", Layout(format="routes"), ["ph", "sp"])
    assert text(found) == "- Physics\n- Physics -> Mechanics -> Speed: How fast."


def test_orders() -> None:
    names = ("Force", "Mass", "Speed", "Way", "Time")
    sample = choice(knowledge_points=names)
    orders = {order: lay(sample, layout=Layout(order=order)) for order in ("given", "reversed", "shuffled")}  # type: ignore[arg-type]
    shown = {order: laid.beside.points for order, laid in orders.items() if laid}
    assert (shown["given"], shown["reversed"]) == (names, names[::-1])
    assert sorted(shown["shuffled"]) == sorted(names)
    lines = [line.removeprefix("- ").partition(":")[0] for line in text(orders["shuffled"]).split("\n")]
    assert tuple(lines) == shown["shuffled"]
    variant = Variant("s1", "shuffle", 0, 0, (Step("shuffle", {}),), Verdict("kept"))
    again = lay(choice("s1~0", knowledge_points=names, variant=variant), layout=Layout(order="shuffled"))
    assert again == orders["shuffled"]
    others = {lay(choice(f"o{n}", knowledge_points=names), layout=Layout(order="shuffled")) for n in range(9)}
    assert len(others) > 3


def test_room_goes_to_the_most_important_points_before_they_are_put_in_order() -> None:
    sample = choice(knowledge_points=("Force", "Mass", "Speed"))
    laid = lay(sample, layout=Layout(tokens=8, order="reversed"))  # 32 bytes: 26, a line's end, 5 of 34
    assert laid == Laid("- Force: A push or a pull.", Beside(("Force",), own=3, hits=1, cut=True))
    laid = lay(sample, layout=Layout(tokens=9, order="reversed"))
    assert laid == Laid("- Mass\n- Force: A push or a pull.", Beside(("Mass", "Force"), own=3, hits=2, cut=True))
    whole = lay(sample, layout=Layout(tokens=1000))
    assert whole is not None and not whole.beside.cut and whole == lay(sample)


HINTS = {"definition": "Ice is solid water.\n", "background": "It swims. It is less dense.", "method": " "}


def test_hints_stand_as_they_are_and_all_of_them_under_their_kinds() -> None:
    sample = open_ended(hints=HINTS, knowledge_points=("Force",))
    assert lay(sample, "hint:definition") == Laid("Ice is solid water.", Beside(("definition",)))
    assert lay(sample, "hint:all") == Laid(
        "definition:\nIce is solid water.\n\nbackground:\nIt swims. It is less dense.",
        Beside(("definition", "background")),
    )
    assert text(lay(open_ended(hints=HINTS, language="zh"), "hint:all")).startswith("definition：\nIce")
    plain = Layout(order="reversed", format="names")
    assert lay(sample, "hint:all", plain) == lay(sample, "hint:all")


def test_hints_keep_to_the_room() -> None:
    sample = open_ended(hints=HINTS)
    assert lay(sample, "hint:background", Layout(tokens=3)) == Laid("It swims.", Beside(("background",), cut=True))
    assert lay(sample, "hint:background", Layout(tokens=1)) == Laid("It s", Beside(("background",), cut=True))
    laid = lay(sample, "hint:all", Layout(tokens=14))
    assert laid == Laid(
        "definition:\nIce is solid water.\n\nbackground:\nIt swims.", Beside(("definition", "background"), cut=True)
    )


def test_a_text_that_holds_the_answer_is_recorded() -> None:
    laid = lay(choice(texts=("matter", "a pull"), knowledge_points=("Force",)))
    assert laid is not None and laid.beside.leaks
    laid = lay(choice(texts=("matter", "a pull"), answer="A", knowledge_points=("Force",)))
    assert laid is not None and not laid.beside.leaks
    assert lay(open_ended(answer="less dense", hints=HINTS), "hint:all").beside.leaks  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
        (Layout(k=0), "0 points cannot be looked up: give 1 or more"),
        (Layout(tokens=0), "knowledge has no room in 0 tokens: give 1 or more, or no limit"),
        (
            Layout(order="reverse"),  # type: ignore[arg-type]
            "there is no order of knowledge 'reverse' (did you mean 'reversed'?): use given, reversed, shuffled",
        ),
        (
            Layout(format="text"),  # type: ignore[arg-type]
            "there is no format of knowledge 'text' (did you mean 'texts'?): use texts, names, routes",
        ),
    ],
)
def test_a_wrong_layout_is_told(layout: Layout, problem: str) -> None:
    with pytest.raises(UserError) as caught:
        layout.check()
    assert str(caught.value) == problem
    assert Layout(tokens=1, k=1).check() == Layout(1, 1)
