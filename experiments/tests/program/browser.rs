//! The report of a study in a browser, where there is one: no errors, tables sort, figures tell their values, nothing is too wide.

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
  const link = document.querySelector("a[data-runs]");
  link.click();
  const rows = [...document.querySelectorAll("#runs tbody tr")];
  found.runs = [rows.filter(row => !row.hidden).length, rows.length];
  document.getElementById("every").click();
  const svg = document.querySelector("figure svg");
  svg.scrollIntoView();
  const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const group = [...svg.querySelectorAll(".series")].find(group => group.dataset.values.trim());
  const [x, y, ...values] = group.dataset.values.trim().split(" ")[0].split(",");
  const box = svg.getBoundingClientRect();
  const at = { clientX: box.left + (x - left) / width * box.width, clientY: box.top + (y - top) / height * box.height, bubbles: true };
  svg.dispatchEvent(new PointerEvent("pointermove", at));
  const tip = document.getElementById("tip");
  found.tip = [tip.style.display, tip.textContent, values.join(", ")];
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
fn the_report_works_in_a_browser() {
    let Some(browser) = browser() else {
        eprintln!("no browser is here, so the report is not looked at; Debian has the package chromium");
        return;
    };
    let folder = Folder::new("browser");
    let study = crate::folder::root().join("experiments/examples/small.toml");
    folder.write("s.toml", std::fs::read(study).unwrap());
    for line in [&["study", "run", "s.toml"][..], &["study", "report", "s.toml", "--out", "report"]] {
        assert!(folder.run(line).status.success());
    }
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
        assert_eq!(found["errors"], serde_json::json!([]), "{found}");
        let numbers = |key: &str| -> Vec<f64> {
            found[key].as_array().unwrap().iter().filter_map(|x| x.as_f64()).collect()
        };
        let (up, down) = (numbers("up"), numbers("down"));
        assert!(up.len() > 1 && up.is_sorted() && down.iter().rev().is_sorted() && up != down, "{found}");
        let runs = numbers("runs");
        assert!(0.0 < runs[0] && runs[0] < runs[1], "{found}");
        let tip = found["tip"].as_array().unwrap();
        assert_eq!(tip[0], "block", "{found}");
        assert!(tip[1].as_str().unwrap().ends_with(tip[2].as_str().unwrap()), "{found}");
        assert_eq!(found["zoomed"], true, "{found}");
        let wide = numbers("wide");
        assert!(wide[0] <= wide[1] && wide[1] == f64::from(width), "{found}");
    }
}
