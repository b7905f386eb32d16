"""What lies beside a question, word for word, and what is recorded of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from making_bases import tree

from kprag import BuiltContext, Knowledge, Layout, Node, Taxonomy, gather_questions, knowledge_block
from making import choice, open_ended
from mmdyn.context import Context
from mmdyn.errors import UserError
from mmdyn.record import ContextInfo
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


def build(
    sample: Sample,
    context: str = "kprag",
    layout: Layout = Layout(),  # noqa: B008 frozen
    found: Sequence[str] = (),
    base: Taxonomy | None = BASE,
    k: int = 3,
) -> BuiltContext | None:
    return Knowledge(TEXTS, base, layout, k=k).build_context(sample, Context.parse(context), found)


def text(built: BuiltContext | None) -> str:
    assert built is not None
    return built.text


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
    built = build(sample)
    assert built == BuiltContext(
        "- Mass: How much matter there is.\n- Push: What speeds bodies up.\n- Nowhere",
        ContextInfo(("Mass", "Push", "Nowhere"), own=3, hits=3),
    )
    assert build(sample, "kprag:none") == build(sample, "kprag:two-turn") == built
    assert text(build(sample, base=None)).split("\n")[1:3] == ["- Push", "- Force: A push or a pull."]


@pytest.mark.parametrize("names", [("Push", "Force"), ("Force", "Push"), ("Push", "fo", "Physics->Force", "FORCE")])
def test_a_point_and_its_alias_are_one_point(names: tuple[str, ...]) -> None:
    base = tree(
        Node("ph", "Physics"), Node("fo", "Force", parent="ph", aliases=("Push",)), Node("x", "Heat", description="h")
    )
    sample = choice(knowledge_points=names)
    gold = build(sample, base=base)
    assert gold == BuiltContext(
        f"- {names[0]}: A push or a pull." if "Force" in names else f"- {names[0]}", ContextInfo(names[:1], 1, 1)
    )
    control = Knowledge({"Force": "f"}, base, Layout()).build_context(sample, Context.parse("distractor"))
    assert control is None or control.beside == ContextInfo(("Heat",), own=1, hits=0)
    found = build(sample, "kprag:retrieved", found=["x", "fo"], base=base)
    assert found is not None and (found.beside.own, found.beside.hits) == (1, 1)
    (asked,) = gather_questions([sample], base, lambda sample: sample.question).asked
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
    assert text(build(sample, base=base)) == f"- Bat: {told}"
    above = "Sport" if told == "A club." else "Animals"
    assert text(build(sample, base=base, layout=Layout(format="routes"))) == f"- {above} -> Bat: {told}"
    assert build(sample, "kprag:retrieved", found=["b1"], base=base).beside.hits == 1  # type: ignore[union-attr]


def test_names_stand_on_one_line_and_empty_ones_are_no_points() -> None:
    texts = {"Force\nof   bodies": "A push.", "": "x", " ": "y"}
    sample = choice(knowledge_points=("Force\nof   bodies", "", " ", "<image 1>"))
    built = Knowledge(texts, None, Layout()).build_context(sample, Context("gold"))
    assert built == BuiltContext("- Force of bodies: A push.", ContextInfo(("Force of bodies",), own=1, hits=1))
    assert build(choice(knowledge_points=(" ", "")), base=None) is None
    base = tree(Node("h", "High\nup"), Node("t", "Two\n\nlines", "h", description="d"))
    assert text(build(choice(), "kprag:retrieved", Layout(format="routes"), ["t"], base)) == "- High up -> Two lines: d"


def test_marks_of_pictures_are_left_out_of_texts_and_hints() -> None:
    base = tree(Node("h", "Heat", description="See <image 12> here."), Node("m", "Mass", description="<image 1>"))
    sample = choice(knowledge_points=("Heat", "Ice"), hints={"method": "Look at <image 1>.", "background": "<image 2>"})
    built = Knowledge({"Ice": "Cold<image 2>, as <image>."}, base, Layout()).build_context(sample, Context("gold"))
    assert text(built) == "- Heat: See here.\n- Ice: Cold, as <image>."
    assert text(build(choice(), "kprag:retrieved", found=["h", "m"], base=base)).split("\n") == [
        "- Heat: See here.",
        "- Mass: How much matter there is.",
    ]
    assert build(sample, "hint:all") == BuiltContext("method:\nLook at.", ContextInfo(("method",)))
    assert build(sample, "hint:background") is None


def test_what_was_found_stands_best_first_each_name_once() -> None:
    sample = choice(knowledge_points=("Push", "Mass"))
    built = build(sample, "kprag:retrieved", found=["sp", "fo", "fo2", "me", "ma"])
    assert built == BuiltContext(
        "- Speed: How fast.\n- Force: What speeds bodies up.\n- Mechanics",
        ContextInfo(("Speed", "Force", "Mechanics"), own=2, hits=1),
    )
    assert build(choice(), "kprag:retrieved", found=["ma"], k=1) == BuiltContext(
        "- Mass: How much matter there is.", ContextInfo(("Mass",))
    )


def test_own_points_come_before_what_was_found_beside_them() -> None:
    sample, found = choice(knowledge_points=("Push", "Mass")), ["fo", "sp", "ma", "me"]
    assert build(sample, "kprag:mixed", found=found) == BuiltContext(
        "- Push: What speeds bodies up.\n- Mass: How much matter there is.\n- Speed: How fast.",
        ContextInfo(("Push", "Mass", "Speed"), own=2, hits=2),
    )
    assert build(sample, "kprag:mixed", found=found, k=1) == build(sample) == build(sample, "kprag:mixed")


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
    assert build(sample, context) is None
    if context == "distractor":
        assert build(sample, context, base=None) is None


def test_formats() -> None:
    sample = choice(knowledge_points=("Push", "Nowhere", "Mechanics->Speed"))
    assert text(build(sample, layout=Layout(format="names"))) == "- Push\n- Nowhere\n- Mechanics->Speed"
    assert text(build(sample, layout=Layout(format="routes"))).split("\n") == [
        "- Physics -> Mechanics -> Push: What speeds bodies up.",
        "- Nowhere",
        "- Physics -> Mechanics -> Speed: How fast.",
    ]
    found = build(sample, "kprag:retrieved", Layout(format="routes"), ["ph", "sp"])
    assert text(found) == "- Physics\n- Physics -> Mechanics -> Speed: How fast."


def test_orders() -> None:
    names = ("Force", "Mass", "Speed", "Way", "Time")
    sample = choice(knowledge_points=names)
    orders = {order: build(sample, layout=Layout(order=order)) for order in ("given", "reversed", "shuffled")}  # type: ignore[arg-type]
    shown = {order: built.beside.points for order, built in orders.items() if built}
    assert (shown["given"], shown["reversed"]) == (names, names[::-1])
    assert sorted(shown["shuffled"]) == sorted(names)
    lines = [line.removeprefix("- ").partition(":")[0] for line in text(orders["shuffled"]).split("\n")]
    assert tuple(lines) == shown["shuffled"]
    variant = Variant("s1", "shuffle", 0, 0, (Step("shuffle", {}),), Verdict("kept"))
    again = build(choice("s1~0", knowledge_points=names, variant=variant), layout=Layout(order="shuffled"))
    assert again == orders["shuffled"]
    others = {build(choice(f"o{n}", knowledge_points=names), layout=Layout(order="shuffled")) for n in range(9)}
    assert len(others) > 3


def test_room_goes_to_the_most_important_points_before_they_are_put_in_order() -> None:
    sample = choice(knowledge_points=("Force", "Mass", "Speed"))
    built = build(sample, layout=Layout(tokens=8, order="reversed"))  # 32 bytes: 26, a line's end, 5 of 34
    assert built == BuiltContext("- Force: A push or a pull.", ContextInfo(("Force",), own=3, hits=1, cut=True))
    built = build(sample, layout=Layout(tokens=9, order="reversed"))
    assert built == BuiltContext(
        "- Mass\n- Force: A push or a pull.", ContextInfo(("Mass", "Force"), own=3, hits=2, cut=True)
    )
    whole = build(sample, layout=Layout(tokens=1000))
    assert whole is not None and not whole.beside.cut and whole == build(sample)


HINTS = {"definition": "Ice is solid water.\n", "background": "It swims. It is less dense.", "method": " "}


def test_hints_stand_as_they_are_and_all_of_them_under_their_kinds() -> None:
    sample = open_ended(hints=HINTS, knowledge_points=("Force",))
    assert build(sample, "hint:definition") == BuiltContext("Ice is solid water.", ContextInfo(("definition",)))
    assert build(sample, "hint:all") == BuiltContext(
        "definition:\nIce is solid water.\n\nbackground:\nIt swims. It is less dense.",
        ContextInfo(("definition", "background")),
    )
    assert text(build(open_ended(hints=HINTS, language="zh"), "hint:all")).startswith("definition：\nIce")
    plain = Layout(order="reversed", format="names")
    assert build(sample, "hint:all", plain) == build(sample, "hint:all")


def test_a_text_that_holds_the_answer_is_recorded() -> None:
    built = build(choice(texts=("matter", "a pull"), knowledge_points=("Force",)))
    assert built is not None and built.beside.leaks
    built = build(choice(texts=("matter", "a pull"), answer="A", knowledge_points=("Force",)))
    assert built is not None and not built.beside.leaks
    assert build(open_ended(answer="less dense", hints=HINTS), "hint:all").beside.leaks  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
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
    assert Layout(tokens=1).check() == Layout(1)
