//! RectSL in its usual layout.

use super::{RectWord, Token, is_item, tokens};
use crate::scene::Scene;
use crate::text::{SyntaxError, replaced};

/// The longest line that is not broken, in characters.
const WIDTH: usize = 100;

impl Scene {
    /// A text in RectSL in its usual layout: a line a setting, a track or a sentence of a rect. Words, numbers and comments
    /// stay as they are written, so the result reads to the same scene; formatting it again changes nothing.
    ///
    /// ```
    /// # use keyfit_ir::Scene;
    /// let text = Scene::format_rectsl("\"m\" rect 1 2 ->xy '( 0=1 2  = 3 ) linear ->w ;")?;
    /// assert_eq!(text, "\"m\" rect\n  1 2 ->xy\n  '( 0=1  2=3 ) linear ->w\n;\n");
    /// # Ok::<(), Vec<keyfit_ir::SyntaxError>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Scene::parse_rectsl`]: a text that is no scene is left alone.
    pub fn format_rectsl(text: &str) -> Result<String, Vec<SyntaxError>> {
        Scene::parse_rectsl(text)?;
        let mut layout = Layout::default();
        let all = tokens(text).map_err(|e| vec![e])?;
        let mut end = 0;
        for (i, (token, span)) in all.iter().enumerate() {
            let gap = &text[end..span.start];
            end = span.end;
            let mut ahead = all[i + 1..].iter().map(|(token, _)| *token).filter(|t| *t != Token::Comment);
            layout.token(*token, &text[span.range()], gap, [ahead.next(), ahead.next()]);
        }
        Ok(layout.finish())
    }

    /// The RectSL `text` with the numbers that `value` gives for its free parameters in the place of their starts. All else stays as it
    /// is written.
    ///
    /// ```
    /// # use keyfit_ir::Scene;
    /// let text = "\"m\" rect 1 free-param a t * ->x ; # a marker";
    /// assert_eq!(Scene::restart_rectsl(text, |_| Some(2.5))?, text.replace('1', "2.5"));
    /// # Ok::<(), keyfit_ir::SyntaxError>(())
    /// ```
    ///
    /// # Errors
    /// Where the text has no tokens of RectSL.
    pub fn restart_rectsl(text: &str, value: impl Fn(&str) -> Option<f64>) -> Result<String, SyntaxError> {
        let mut tokens = tokens(text)?;
        tokens.retain(|(token, _)| *token != Token::Comment);
        let starts = tokens.windows(3).filter_map(|three| match three {
            [(_, start), (Token::Word("free-param"), _), (Token::Word(name), _)] => {
                Some((*start, format!("{:?}", value(name)?)))
            }
            _ => None,
        });
        Ok(replaced(text, starts))
    }
}

#[derive(Default)]
struct Layout {
    out: String,
    /// What stands together on the line that is being laid out; it may break between pieces.
    pieces: Vec<String>,
    in_rect: bool,
    in_keys: bool,
    /// Whether the next token belongs to the last piece: it stands behind a `=`.
    glued: bool,
    /// Whether a part of the sentence stands on the lines before.
    broken: bool,
    /// Whether the pieces before these opened a key list.
    listing: bool,
    /// Whether an empty line goes before the next one.
    blank: bool,
}

impl Layout {
    fn token(&mut self, token: Token, text: &str, gap: &str, [next, then]: [Option<Token>; 2]) {
        let lines = gap.matches('\n').count();
        let begins = self.pieces.is_empty() && !self.broken;
        // an item that comes after something: settings stand together, rects alone
        let item = begins && !self.in_rect && !matches!(token, Token::Comment);
        self.blank |= (begins && lines > 1) || (item && next == Some(Token::Word("rect")));
        match token {
            Token::Comment => {
                // behind what stands on its line
                let alone = lines > 0 || self.out.is_empty() && self.pieces.is_empty();
                if !alone && self.pieces.is_empty() && self.out.ends_with('\n') {
                    self.out.pop();
                    self.out += &format!("  {}\n", text.trim_end());
                    return;
                }
                if alone {
                    self.line();
                    self.pieces.push(text.trim_end().into());
                    self.line();
                } else {
                    let last = self.pieces.pop().map_or(String::new(), |last| last + "  ");
                    self.pieces.push(last + text.trim_end());
                    self.line();
                }
                self.broken = !begins;
                return;
            }
            Token::Equals => {
                self.glue(text);
                self.glued = true;
                return;
            }
            Token::EndRect => {
                self.line();
                (self.in_rect, self.broken, self.blank) = (false, false, false);
                self.pieces.push(text.into());
                self.end();
                self.blank = true;
                return;
            }
            Token::OpenKeys => self.in_keys = true,
            Token::CloseKeys => self.in_keys = false,
            _ => {}
        }
        if self.glued {
            self.glue(text);
        } else if self.in_keys && next != Some(Token::Equals) && token != Token::OpenKeys {
            let last = self.pieces.pop().map_or(String::new(), |last| last + " ");
            self.pieces.push(last + text);
        } else {
            self.pieces.push(text.into());
        }
        self.glued = false;
        let sentence = match token {
            Token::Word(word) if self.in_rect => !self.in_keys && RectWord::from_word(word).is_some(),
            Token::Word("rect") => {
                self.in_rect = true;
                true
            }
            Token::CloseKeys => !self.in_rect,
            _ => false,
        };
        if sentence || !self.in_rect && next.is_some_and(|next| is_item(next, then)) {
            self.end();
        }
    }

    fn glue(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(last) => *last += text,
            None => self.pieces.push(text.into()),
        }
    }

    /// Ends a sentence.
    fn end(&mut self) {
        self.line();
        self.broken = false;
    }

    /// Writes the pieces, on several lines if need be.
    fn line(&mut self) {
        let mut line = String::new();
        let indent = |broken: bool| 2 * (usize::from(self.in_rect) + usize::from(broken));
        // a rect's own name and its ; stand at the margin
        let outside = matches!(self.pieces.as_slice(), [_, word] if word == "rect");
        let mut width = if outside { 0 } else { indent(self.broken) };
        if self.pieces.is_empty() {
            return;
        }
        if self.blank && !self.out.is_empty() {
            self.out.push('\n');
        }
        self.blank = false;
        line += &" ".repeat(width);
        for (i, piece) in self.pieces.iter().enumerate() {
            let gap = match i {
                0 => "",
                _ if self.listing && piece != ")" && self.pieces[i - 1] != "'(" => "  ",
                _ => " ",
            };
            self.listing = piece == "'(" || self.listing && piece != ")";
            width += gap.len() + piece.chars().count();
            if i > 0 && width > WIDTH {
                self.out += &line;
                self.out.push('\n');
                line = " ".repeat(indent(true));
                width = line.len() + piece.chars().count();
            } else {
                line += gap;
            }
            line += piece;
        }
        self.out += &line;
        self.out.push('\n');
        self.pieces.clear();
        self.broken = true;
    }

    fn finish(mut self) -> String {
        self.line();
        self.out
    }
}
