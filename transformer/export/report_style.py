"""The report's style sheet: paper and ink, their night side, and what a printer needs. Nothing is fetched."""

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --shade: #f5f3ee; --ink: #14171b; --soft: #545a61; --line: #d8d4ca;
  --bar: #2a5b8c; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0e1116; --shade: #181c22; --ink: #e7e6e2; --soft: #a9aeb6; --line: #343b45; --bar: #8fc1ee; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 3rem; }
h1 { margin: 0; font-size: 1rem; font-weight: 600; color: var(--soft); }
h2 { margin: 3rem 0 .25rem; font-size: 1.4rem; font-weight: 650; line-height: 1.25; }
h3 { margin: 1.5rem 0 .5rem; font-size: 1rem; font-weight: 600; }
p { margin: .25rem 0 .75rem; max-width: 46rem; }
.note { color: var(--soft); font-size: .9rem; }
.text { margin: .4rem 0 0; max-width: none; font-size: 1.75rem; font-weight: 650; line-height: 1.3;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.text.target { margin-top: .2rem; font-weight: 400; }
.text.long { font-size: 1.1rem; }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 2rem; margin: 1.25rem 0 0; padding: .75rem 0;
  border: solid var(--line); border-width: 1px 0; }
.facts div { min-width: 0; }
.facts dt { font-size: .8rem; color: var(--soft); }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
.tokens { display: flex; flex-wrap: wrap; gap: .5rem; margin: .75rem 0; padding: 0; list-style: none; }
.tokens li { max-width: 100%; min-width: 3.75rem; padding: .3rem .6rem .4rem; border: 1px solid var(--line);
  border-radius: .375rem; background: var(--shade); }
.tokens b { display: block; font-weight: 600; overflow-wrap: anywhere; }
.tokens i { display: block; height: 4px; margin: .15rem 0 .25rem; border-radius: 2px; background: var(--line); }
.tokens i::before { content: ""; display: block; width: var(--p); height: 100%; border-radius: 2px;
  background: var(--bar); }
.tokens span { display: block; font-size: .8rem; color: var(--soft); font-variant-numeric: tabular-nums;
  white-space: nowrap; }
.dot { display: inline-block; width: .7em; height: .7em; margin-right: .4em; border-radius: 50%; }
figure { margin: 1rem 0 0; padding: .5rem; border: 1px solid var(--line); border-radius: .375rem; overflow-x: auto; }
figure + figure { margin-top: 1rem; }
figcaption { padding: 0 .5rem .25rem; font-size: .9rem; color: var(--soft); }
svg { display: block; max-width: 100%; height: auto; color: var(--ink); }
svg .paper { fill: none; }
.scroll { overflow-x: auto; }
table { width: 100%; margin: .75rem 0; border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .35rem 1rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top;
  overflow-wrap: anywhere; }
th { font-weight: 600; white-space: nowrap; }
code { font-size: .85em; color: var(--soft); }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 0 2.5rem; }
footer { margin-top: 3rem; padding-top: .75rem; border-top: 1px solid var(--line); }
@media print {
  :root { --paper: #ffffff; --shade: #f5f3ee; --ink: #14171b; --soft: #545a61; --line: #d8d4ca; --bar: #2a5b8c; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  figure, .tokens li, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  svg { max-height: 22cm; }
}
"""
