"""Texts that are hostile or unusual, each with a name, for every view, figure, page and export that shows text.

    @pytest.mark.parametrize("text", hostile.PARAMETERS)

All of TEXTS can be traced: none is blank, none holds a lone surrogate. BLANK ones are refused in one sentence. LONG
is 512 words with </s>, and as many tokens or somewhat more, as the tokenizer has it.
"""

import pytest

SCRIPT = "</script><img src=x onerror=alert(1)>"

TEXTS: dict[str, str] = {
    # What a browser could run or misread.
    "script end and image": SCRIPT,
    "script": "<script>alert('script')</script> runs?",
    "quotes and handler": "\"' onmouseover=alert(1) x='\"",
    "svg with handler": "<svg/onload=alert(1)><animate onbegin=alert(2) attributeName=x>",
    "foreign object": "<foreignObject><iframe src='javascript:alert(1)'></iframe></foreignObject>",
    "title end": "</title></desc></metadata></text></svg><script>alert(1)</script>",
    "style end": "</style><style>*{display:none}</style>",
    "textarea end": "</textarea></template></noscript><b onclick=alert(1)>bold",
    "comment": "<!-- a comment --> --> <!-- never closed",
    "cdata end": "a ]]> b <![CDATA[ c ]]>",
    "processing instruction": "<?xml version='1.0'?><?php echo 1 ?> <%= 1 %>",
    "doctype with entity": "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]> &e;",
    "entities": "&lt;b&gt; &amp;amp; &#60;script&#62; &#x3C; &nbsp; &unknown;",
    "ampersands": "R&D && a&b&c; AT&T",
    "less and greater": "1 < 2 > 0 << >> <> </> < a >",
    "special pieces as text": "<s> </s> <pad> <unk> <0x41> <0xE2>",
    "javascript address": "javascript:alert(1) data:text/html,<b>x</b> http://example.com/?a=1&b=2",
    "markdown": "[link](javascript:alert(1)) ![image](http://example.com/x.png) **bold** `code` | a | b |",
    "latex": "$\\frac{1}{0}$ \\(x\\) $$\\href{http://example.com}{x}$$ 5$ and 6$",
    "template braces": "{{7*7}} ${7*7} %s %(x)s {0} %{x} #{x}",
    "plotly tags": "<br>line<br><sup>up</sup> <b>bold</b> %{x} <extra></extra>",
    "css": "x{}</style> ;color:red; url(http://example.com/x) expression(alert(1)) /* */",
    "spreadsheet formula": '=1+1 +1 -1 @SUM(A1) =HYPERLINK("http://example.com","x")',
    "json": '{"a": "b\\"", \'c\': [1, 2]} \\u003c \\n \\\\',
    "comma and quotes": 'a,"b",;c\t"d""e" , "',
    "paths": "../../etc/passwd C:\\Windows\\x ~/.ssh file:///x \\\\host\\share",
    # Characters that no file or screen takes for granted.
    "nul": "a\0b \0",
    "control characters": "bell\a back\b escape\x1b[31mred\x1b[0m form\f vertical\v delete\x7f",
    "c1 control characters": "next\x85line \x80\x9b31m\x9f",
    "line ends": "one\ntwo\r\nthree\rfour\tfive",
    "line and paragraph separators": "one\u2028two\u2029three",
    "byte order mark alone": "\ufeff",
    "byte order mark inside": "\ufeffa\ufeffb",
    "noncharacters": "\ufffe \uffff \ufdd0 \U0001ffff \U0010ffff",
    "private use": "\ue000 \uf8ff \U000f0000",
    "replacement character": "\ufffd \ufffd\ufffd",
    "zero width": "a\u200bb\u200cc\u200dd\u2060e\u00adf",
    "invisible tags": "a\U000e0041\U000e0042\U000e007f b",
    "sentencepiece space": "\u2581 a\u2581b \u2581\u2581",
    "unusual spaces": "a\u00a0b\u2003c\u3000d\u202fe\u1680f",
    "very many spaces": "a" + " " * 120 + "b" + " " * 40,
    # Scripts and marks.
    "combining marks": "e\u0301 n\u0303 \u0301\u0308alone a\u20dd",
    "very many combining marks": "Z" + "\u0335\u0321\u0341\u0360\u0322" * 20 + "algo",
    "decomposed and composed": "Stra\u00dfe u\u0308ber \u00fcber \u212b \u00c5 \ufb01n",
    "hebrew": "\u05d4\u05d7\u05ea\u05d5\u05dc \u05d9\u05e9\u05df, (abc) 123!",
    "arabic": "\u0627\u0644\u0642\u0637\u0629 \u0646\u0627\u0626\u0645\u0629\u060c \u0661\u0662\u0663\u061f",
    "right-to-left override": "user\u202egpj.exe \u2066isolate\u2069 \u2067never closed",
    "stray end of isolate": "a\u2069\u202cb \u2069",
    "chinese": "动物太累了,没有过马路。",
    "japanese": "猫は\u300c疲れた\u300dと言った。ガギグ\uff76\uff9e",
    "korean": "고양이가 \u1100\u1161\u11a8 자요.",
    "hindi and thai": "बिल्ली क्षत्रिय सोती है। แมวนอนหลับ",
    "only unknown script": "\U00012000\U00012001 \U00013000\U00013001\U00013002 \u16a0\u16a2",
    "emoji joined": "👩\u200d👩\u200d👧\u200d👦 🏳\ufe0f\u200d🌈 👍🏽 🇩🇪 1\ufe0f\u20e3",
    "one lone emoji": "🙂",
    # Words that are not words.
    "very long word": "Donaudampfschifffahrt" * 12,
    "one letter very often": "a" * 200,
    "only punctuation": "?! ... --- ;;; \u00bf\u00a1 \u2026 \u201e\u201c",
    "only one mark": ".",
    "repeated words": "the the the the THE the. the, the",
    "numbers like dates": "2024-01-01 01/02/2024 12:30 1e5 0x1F 1_000 3.14 007 2024",
    "numbers beyond": "NaN Infinity -0 1e400 null None true undefined ½ ² Ⅳ",
    "keywords": "constructor __proto__ toString hasOwnProperty mean max 0",
    "mixed case and scripts": "Pаypal (Cyrillic а) Ωmega ßẞ İi \u0131I",
}
"""By name."""

PARAMETERS = [pytest.param(text, id=name) for name, text in TEXTS.items()]
"""TEXTS for pytest.mark.parametrize."""

BLANK: dict[str, str] = {
    "nothing": "",
    "spaces": " " * 12,
    "line ends and tabs": "\n\t\r\n",
    "unusual spaces": "\u00a0\u2003\u3000",
    "line separator": "\u2028",
}
"""What every entrance refuses: there is no word in it."""

LONG = " ".join("abcdefghijklmnopqrstuvwxyz"[index * 7 % 26] for index in range(511))
"""511 words of one letter."""
