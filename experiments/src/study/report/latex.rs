//! Text for LaTeX.

use std::fmt::Write;

/// Text as LaTeX sets it, with its usual fonts. A character that they have not stands as its number.
pub(super) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let word = LATEX.iter().find(|(own, _)| *own == c);
        match (c, word) {
            (_, Some((_, word))) => out += word,
            ('&' | '%' | '$' | '#' | '_' | '{' | '}', None) => out.extend(['\\', c]),
            ('\n' | '\r' | '\t', None) => out.push(' '),
            ('Ħ' | 'ħ' | 'ĸ' | 'Ŀ' | 'ŀ' | 'ŉ' | 'Ŧ' | 'ŧ', None) => numbered(&mut out, c),
            // ASCII, and Latin letters that the encoding T1 has or composes
            (' '..='~' | 'À'..='ž' | 'Ș'..='ț', None) => out.push(c),
            _ if c.is_control() => {}
            _ => numbered(&mut out, c),
        }
    }
    out
}

fn numbered(out: &mut String, c: char) {
    let _ = write!(out, "U+{:04X}", u32::from(c));
}

/// What LaTeX has a command for.
const LATEX: &[(char, &str)] = &[
    ('~', "\\textasciitilde{}"),
    ('^', "\\textasciicircum{}"),
    ('\\', "\\textbackslash{}"),
    ('<', "\\textless{}"),
    ('>', "\\textgreater{}"),
    ('|', "\\textbar{}"),
    ('"', "\\textquotedbl{}"),
    ('[', "{[}"),
    (']', "{]}"),
    ('–', "--"),
    ('—', "---"),
    ('‘', "`"),
    ('’', "'"),
    ('“', "``"),
    ('”', "''"),
    ('…', "\\dots{}"),
    ('∞', "$\\infty$"),
    ('×', "$\\times$"),
    ('÷', "$\\div$"),
    ('±', "$\\pm$"),
    ('∓', "$\\mp$"),
    ('·', "$\\cdot$"),
    ('≥', "$\\ge$"),
    ('≤', "$\\le$"),
    ('≠', "$\\ne$"),
    ('≈', "$\\approx$"),
    ('∼', "$\\sim$"),
    ('≡', "$\\equiv$"),
    ('≪', "$\\ll$"),
    ('≫', "$\\gg$"),
    ('∝', "$\\propto$"),
    ('−', "$-$"),
    ('√', "$\\surd$"),
    ('∂', "$\\partial$"),
    ('∇', "$\\nabla$"),
    ('∑', "$\\sum$"),
    ('∏', "$\\prod$"),
    ('∫', "$\\int$"),
    ('∈', "$\\in$"),
    ('ℓ', "$\\ell$"),
    ('‖', "$\\|$"),
    ('⟨', "$\\langle$"),
    ('⟩', "$\\rangle$"),
    ('°', "$^\\circ$"),
    ('′', "$'$"),
    ('†', "$\\dagger$"),
    ('←', "$\\leftarrow$"),
    ('→', "$\\rightarrow$"),
    ('↔', "$\\leftrightarrow$"),
    ('⇒', "$\\Rightarrow$"),
    ('α', "$\\alpha$"),
    ('β', "$\\beta$"),
    ('γ', "$\\gamma$"),
    ('δ', "$\\delta$"),
    ('ε', "$\\varepsilon$"),
    ('ϵ', "$\\epsilon$"),
    ('ζ', "$\\zeta$"),
    ('η', "$\\eta$"),
    ('θ', "$\\theta$"),
    ('ι', "$\\iota$"),
    ('κ', "$\\kappa$"),
    ('λ', "$\\lambda$"),
    ('μ', "$\\mu$"),
    ('µ', "$\\mu$"),
    ('ν', "$\\nu$"),
    ('ξ', "$\\xi$"),
    ('π', "$\\pi$"),
    ('ρ', "$\\rho$"),
    ('ς', "$\\varsigma$"),
    ('σ', "$\\sigma$"),
    ('τ', "$\\tau$"),
    ('υ', "$\\upsilon$"),
    ('φ', "$\\varphi$"),
    ('ϕ', "$\\phi$"),
    ('χ', "$\\chi$"),
    ('ψ', "$\\psi$"),
    ('ω', "$\\omega$"),
    ('Γ', "$\\Gamma$"),
    ('Δ', "$\\Delta$"),
    ('Θ', "$\\Theta$"),
    ('Λ', "$\\Lambda$"),
    ('Ξ', "$\\Xi$"),
    ('Π', "$\\Pi$"),
    ('Σ', "$\\Sigma$"),
    ('Υ', "$\\Upsilon$"),
    ('Φ', "$\\Phi$"),
    ('Ψ', "$\\Psi$"),
    ('Ω', "$\\Omega$"),
    ('₀', "$_0$"),
    ('₁', "$_1$"),
    ('₂', "$_2$"),
    ('₃', "$_3$"),
    ('₄', "$_4$"),
    ('₅', "$_5$"),
    ('₆', "$_6$"),
    ('₇', "$_7$"),
    ('₈', "$_8$"),
    ('₉', "$_9$"),
    ('₊', "$_+$"),
    ('₋', "$_-$"),
    ('ᵢ', "$_i$"),
    ('ⱼ', "$_j$"),
    ('ₖ', "$_k$"),
    ('ₙ', "$_n$"),
    ('⁰', "$^0$"),
    ('¹', "$^1$"),
    ('²', "$^2$"),
    ('³', "$^3$"),
    ('⁴', "$^4$"),
    ('⁵', "$^5$"),
    ('⁶', "$^6$"),
    ('⁷', "$^7$"),
    ('⁸', "$^8$"),
    ('⁹', "$^9$"),
    ('⁺', "$^+$"),
    ('⁻', "$^-$"),
    ('ⁿ', "$^n$"),
    ('ᵀ', "$^T$"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{LATEX, latex};

    #[test]
    fn a_character_has_one_command() {
        let all: BTreeSet<char> = LATEX.iter().map(|(c, _)| *c).collect();
        assert_eq!(all.len(), LATEX.len());
        assert!(LATEX.iter().all(|(_, word)| word.is_ascii()));
    }

    #[test]
    fn what_its_fonts_have_is_set() {
        assert_eq!(latex("Čapek ‖∇f‖₂ ≤ 10⁻³"), "Čapek $\\|$$\\nabla$f$\\|$$_2$ $\\le$ 10$^-$$^3$");
        assert_eq!(latex("Ħ Ж\u{7}"), "U+0126 U+0416");
    }
}
