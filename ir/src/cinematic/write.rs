//! A scene as YAML.

use std::fmt::{Display, Write};

use super::{
    CinematicScene, Component, EffectFrame, EffectKey, MotionTarget, Particle, Pose, SceneTrack, Sound,
    Value, When,
};
use crate::scene::Rate;

impl CinematicScene {
    /// The scene as YAML, which [`CinematicScene::parse_yaml`] reads back to the same scene: a line a key. Numbers have the
    /// fewest digits that read back to the same bits; what is as it is anyway is left out.
    pub fn to_yaml(&self) -> String {
        let mut text = format!("id: {}\nduration: {}\n", quoted(&self.id), self.duration);
        if !self.metadata.is_empty() {
            text += "metadata:\n";
        }
        for (name, value) in &self.metadata {
            text += &format!("  {}: {}\n", quoted(name), quoted(value));
        }
        text += "tracks:\n";
        self.tracks.iter().for_each(|track| write_track(&mut text, track));
        text
    }
}

/// The entries of a mapping, to be written in braces.
#[derive(Default)]
struct Fields(Vec<String>);

impl Fields {
    fn put(&mut self, key: &str, value: impl Display) {
        self.0.push(format!("{key}: {value}"));
    }

    /// The same, if the value is not what it would be without.
    fn put_unless<T: PartialEq>(&mut self, usual: T, key: &str, value: T, text: impl FnOnce(T) -> String) {
        if value != usual {
            self.put(key, text(value));
        }
    }

    fn braces(&self) -> String {
        format!("{{{}}}", self.0.join(", "))
    }
}

fn write_track(text: &mut String, track: &SceneTrack) {
    // writing to a String cannot fail
    let _ = writeln!(text, "  - type: {}", track.kind().word());
    let (id, actor_id) = match track {
        SceneTrack::Camera(track) => (&track.id, None),
        SceneTrack::Actor(track) => (&track.id, track.actor_id.as_ref()),
        SceneTrack::Effect(track) => (&track.id, None),
    };
    if let Some(id) = id {
        let _ = writeln!(text, "    id: {}", quoted(id));
    }
    let mut data = Fields::default();
    if let Some((motion, _)) = track.motion() {
        data.put_unless(Default::default(), "path-mode", motion.path_mode, |mode| mode.word().into());
        data.put_unless(Default::default(), "easing-side", motion.easing_side, |side| side.word().into());
        data.put_unless(Default::default(), "turn", motion.turn, |turn| turn.word().into());
    }
    if let Some(actor) = actor_id {
        data.put("actor-id", quoted(actor));
    }
    if !data.0.is_empty() {
        let _ = writeln!(text, "    data: {}", data.braces());
    }
    let keys: Vec<Fields> = match track {
        SceneTrack::Camera(track) => {
            track.keys.iter().map(|key| pose(&key.pose, "fov", key.fov.as_ref().map(number))).collect()
        }
        SceneTrack::Actor(track) => track
            .keys
            .iter()
            .map(|key| pose(&key.pose, "action", key.action.as_deref().map(quoted)))
            .collect(),
        SceneTrack::Effect(track) => track.keys.iter().map(effect).collect(),
    };
    text.push_str("    keyframes:\n");
    keys.iter().for_each(|key| text.push_str(&format!("      - {}\n", key.braces())));
    if let Some((motion, _)) = track.motion().filter(|(motion, _)| !motion.targets.is_empty()) {
        text.push_str("    targets:\n");
        motion.targets.iter().for_each(|aim| text.push_str(&format!("      - {}\n", target(aim).braces())));
    }
}

fn pose(pose: &Pose, own: &str, value: Option<String>) -> Fields {
    let mut fields = Fields::default();
    fields.put("tick", pose.tick);
    fields.put("position", list(pose.position.iter().map(number)));
    pose.yaw.iter().for_each(|yaw| fields.put("yaw", number(yaw)));
    pose.pitch.iter().for_each(|pitch| fields.put("pitch", number(pitch)));
    value.into_iter().for_each(|value| fields.put(own, value));
    fields.put_unless(Default::default(), "interpolation", pose.interpolation, |name| {
        quoted(&name.to_string())
    });
    fields
}

fn effect(EffectKey { tick, effect: EffectFrame { sounds, particles } }: &EffectKey) -> Fields {
    let mut fields = Fields::default();
    fields.put("tick", tick);
    if !sounds.is_empty() {
        fields.put("sounds", list(sounds.iter().map(sound)));
    }
    if !particles.is_empty() {
        fields.put("particles", list(particles.iter().map(particle)));
    }
    fields
}

fn sound(sound: &Sound) -> String {
    let mut fields = Fields::default();
    fields.put("name", quoted(&sound.name));
    fields.put_unless(1.0, "volume", sound.volume, |x| format!("{x:?}"));
    fields.put_unless(1.0, "pitch", sound.pitch, |x| format!("{x:?}"));
    fields.braces()
}

fn particle(particle: &Particle) -> String {
    let mut fields = Fields::default();
    fields.put("type", quoted(&particle.name));
    fields.put_unless(1, "count", particle.count, |n| n.to_string());
    fields.put_unless([0.0; 3], "offset", particle.offset, |offset| list(offset.map(|x| format!("{x:?}"))));
    fields.put_unless(0.0, "speed", particle.speed, |x| format!("{x:?}"));
    fields.braces()
}

fn target(MotionTarget { when, values, rates, weight }: &MotionTarget) -> Fields {
    let mut fields = Fields::default();
    match when {
        When::Tick(tick) => fields.put("tick", tick),
        When::Seconds(time) => fields.put("time", format!("{time:?}")),
    }
    components(&mut fields, values);
    for (rate, values) in Rate::ALL.into_iter().zip(rates) {
        let mut own = Fields::default();
        components(&mut own, values);
        if values.iter().any(Option::is_some) {
            fields.put(rate.name(), own.braces());
        }
    }
    fields.put_unless(1.0, "weight", *weight, |x| format!("{x:?}"));
    fields
}

fn components(fields: &mut Fields, values: &[Option<f64>; Component::ALL.len()]) {
    for (component, value) in Component::ALL.into_iter().zip(values) {
        value.iter().for_each(|x| fields.put(component.name(), format!("{x:?}")));
    }
}

fn number(value: &Value) -> String {
    match value {
        Value::Number(x) => format!("{x:?}"),
        Value::Free(parameter) => {
            format!("{{free: {}, value: {:?}}}", quoted(parameter.name()), parameter.start())
        }
    }
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

/// A text as YAML: bare where no reader of YAML 1.1 or 1.2 could take it for anything else, in quotes elsewhere.
fn quoted(text: &str) -> String {
    const NO_TEXT: [&str; 10] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan"];
    let bare = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
        && !NO_TEXT.iter().any(|word| word.eq_ignore_ascii_case(text));
    if bare {
        return text.into();
    }
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.push_str(&format!("\\U{:08X}", u32::from(c))),
        }
    }
    out.push('"');
    out
}
