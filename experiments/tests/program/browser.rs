//! The report of a study in a browser: no errors, tables sort, numbers lead to their runs, figures tell their values, nothing is too
//! wide. Names in the study are as hostile as names can be. `make publication` runs it.

use std::process::Command;

use crate::folder::Folder;

/// What a page is asked. What it finds stands at its end, as JSON.
const QUESTIONS: &str = r##"
<script>
addEventListener("load", () => setTimeout(() => {
  const found = { errors: window.faults };
  const table = document.querySelector("table");
  const shown = () => [...table.tBodies[0].rows].map(row => Number(row.cells[1].dataset.v));
  const head = table.tHead.rows[0].cells[1];
  head.firstChild.click();
  found.up = shown();
  head.firstChild.click();
  found.down = shown();
  const runs = [...document.querySelectorAll("#runs tbody tr")];
  const followed = link => { link.click(); return runs.filter(row => !row.hidden); };
  found.links = { followed: 0, wrong: [], missing: [] };
  for (const cell of document.querySelectorAll("section:not(#runs) td")) {
    const link = cell.querySelector("a[data-runs]"), row = cell.parentNode, table = row.closest("section").id;
    if (cell.dataset.v !== undefined && !link) found.links.missing.push(`${table}: ${cell.textContent}`);
    if (!link) continue;
    const head = row.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent, number = Number(cell.dataset.v);
    const shown = followed(link).length, solvers = document.querySelector("#solvers tbody").rows.length;
    // what a number must lead to, where that is a count: all of it, a share of one solver's runs, or starts of problems of two
    const counted = ["runs", "no answer", "converged elsewhere", "starts", "runs with an order", "too short", "far", "unknown"];
    const due = counted.includes(head) ? number : /^[≤≥]/.test(head) ? number * runs.length / solvers : null;
    found.links.followed += 1;
    const none = shown === 0 && (number !== 0 && Number.isFinite(number)) && !["effect", "Wilcoxon p", "sign p"].includes(head);
    if ((due !== null && Math.abs(shown - due) > 1e-6) || none) found.links.wrong.push([table, head, cell.textContent, shown, due]);
  }
  const pair = document.querySelector("#pairs tbody tr");
  const both = followed(pair.cells[5].querySelector("a")).map(row => row.cells[3].textContent);
  const names = [pair.cells[1].textContent, pair.cells[2].textContent];
  found.pair = [both.length, both.every(name => names.includes(name)), document.getElementById("which").textContent];
  found.runs = runs.length;
  document.getElementById("every").click();
  found.every = runs.filter(row => !row.hidden).length;
  found.title = [document.title, document.querySelector("h1").textContent];
  const wide = document.querySelector("#performance .wide"), first = wide.querySelector("tbody td");
  wide.scrollLeft = 200;
  const away = cell => cell.getBoundingClientRect().left - wide.getBoundingClientRect().left;
  found.sticky = [wide.scrollLeft, away(first), away(first.nextSibling) - first.offsetWidth, Number(wide.firstChild.classList.contains("two"))];
  const svg = document.querySelector("figure svg");
  // what scrolls shows that it does
  const figure = svg.parentNode, shade = element => getComputedStyle(element).backgroundImage;
  found.scrolls = [figure.scrollWidth > figure.clientWidth, shade(figure) === shade(wide) && shade(wide).includes("gradient")];
  svg.scrollIntoView();
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const group = [...svg.querySelectorAll(".series")].find(group => group.dataset.values.trim());
  const [x, y, ...values] = group.dataset.values.trim().split(" ")[0].split(",");
  const box = svg.getBoundingClientRect();
  const at = { clientX: box.left + (x - left) / width * box.width, clientY: box.top + (y - top) / height * box.height, bubbles: true };
  svg.dispatchEvent(new PointerEvent("pointermove", at));
  const tip = document.getElementById("tip");
  found.tip = [tip.style.display, tip.textContent, values.join(", ")];
  // a name shows its line, and the band that is hidden in print
  const other = svg.querySelector(".other"), name = (other ?? group).querySelector("text");
  name.dispatchEvent(new PointerEvent("pointermove", { clientX: box.right - 1, clientY: box.top + 1, bubbles: true }));
  found.named = [tip.textContent, (other ?? group).dataset.name, svg.querySelectorAll(".faint").length, svg.querySelectorAll(".series").length];
  const band = (other ?? group).querySelector(".band");
  found.band = band && getComputedStyle(band).visibility;
  svg.dispatchEvent(new MouseEvent("click", at));
  found.zoomed = svg.getAttribute("viewBox") !== [left, top, width, height].join(" ");
  found.wide = [document.documentElement.scrollWidth, innerWidth];
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  parent.document.body.append(out);
}, 0));
</script>
"##;
const WATCH: &str = "<script>window.faults = []; addEventListener('error', e => window.faults.push(String(e.message)));\
    const say = console.error; console.error = (...all) => { window.faults.push(all.join(' ')); say(...all); };</script>";

fn browser() -> Option<&'static str> {
    let answers =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(answers)
}

#[test]
#[ignore = "needs a browser; `make publication` gets one and runs it"]
fn the_report_works_in_a_browser() {
    let browser = browser().expect("a browser; Debian has the package chromium");
    let folder = Folder::new("browser");
    folder.report("experiments/tests/publication/study.toml");
    let page = std::fs::read_to_string(folder.0.join("report/report.html")).unwrap();
    let watched = page.replacen("<head>", &format!("<head>{WATCH}"), 1).replacen(
        "</body>",
        &format!("{QUESTIONS}</body>"),
        1,
    );
    assert!(watched.contains(WATCH) && watched.contains(QUESTIONS));
    let quoted = watched.replace('&', "&amp;").replace('"', "&quot;");
    for width in [400, 1400] {
        // a window cannot be as narrow as a phone; a frame can
        let frame = format!(
            "<!DOCTYPE html><body><iframe style=\"border: 0; width: {width}px; height: 1000px\" srcdoc=\"{quoted}\"></iframe></body>"
        );
        folder.write("page.html", frame);
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
            .arg("--window-size=1500,1100")
            .arg(format!("--user-data-dir={}", folder.0.join(format!("profile-{width}")).display()))
            .arg(format!("file://{}", folder.0.join("page.html").display()))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let found = text.rsplit_once("<pre id=\"found\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        let found = found
            .unwrap_or_else(|| panic!("nothing was found: {}", String::from_utf8_lossy(&output.stderr)))
            .0;
        let found: serde_json::Value =
            serde_json::from_str(&found.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
                .unwrap();
        let none = serde_json::json!([]);
        assert_eq!(found["errors"], none);
        let numbers = |key: &str| -> Vec<f64> {
            found[key].as_array().unwrap().iter().filter_map(|x| x.as_f64()).collect()
        };
        let (up, down) = (numbers("up"), numbers("down"));
        assert!(up.len() > 1 && up.is_sorted() && down.iter().rev().is_sorted() && up != down, "{found}");
        let links = &found["links"];
        assert_eq!((&links["wrong"], &links["missing"]), (&none, &none));
        assert!(links["followed"].as_u64() > Some(200), "{links}");
        assert_eq!(found["every"], found["runs"]);
        // all runs of the two solvers, of seven
        let pair = found["pair"].as_array().unwrap();
        assert_eq!(7 * pair[0].as_u64().unwrap(), 2 * found["runs"].as_u64().unwrap(), "{pair:?}");
        assert!(
            pair[1] == true && pair[2].as_str().unwrap().contains(", for effect in the row of digits"),
            "{pair:?}"
        );
        for title in found["title"].as_array().unwrap() {
            assert_eq!(title, "@BODY@ <b>&amp; @TITLE@ 100 %");
        }
        // the first column stays where it is while the others are scrolled, and so does the second one where there is room
        let sticky = numbers("sticky");
        assert!(sticky[1].abs() < 1.0 && (width > 400 || sticky[0] == 200.0), "{sticky:?}");
        assert!(sticky[3] == 1.0 && sticky[2].abs() < 1.0, "{sticky:?}");
        let tip = found["tip"].as_array().unwrap();
        assert_eq!(tip[0], "block", "{found}");
        assert!(tip[1].as_str().unwrap().ends_with(tip[2].as_str().unwrap()), "{found}");
        let named = found["named"].as_array().unwrap();
        assert_eq!(named[0], named[1], "{found}");
        assert_eq!(named[2].as_u64().unwrap() + 1, named[3].as_u64().unwrap(), "{found}");
        assert_eq!(found["band"], "visible", "{found}");
        assert_eq!(found["zoomed"], true, "{found}");
        assert_eq!(found["scrolls"], serde_json::json!([width == 400, true]), "{found}");
        let wide = numbers("wide");
        assert!(wide[0] <= wide[1] && wide[1] == f64::from(width), "{found}");
    }
}
