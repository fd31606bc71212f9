//! The GLSL functions that generated code may call, each with those that it needs itself.
//!
//! They exist where GLSL leaves a result undefined, or defines another one than keyfit does. Infinities and NaN are
//! made from their bits, as no literal of GLSL is one.

/// A function of GLSL.
#[derive(Debug)]
pub(crate) struct Helper {
    /// Its name, `kf_…`.
    pub(crate) name: &'static str,
    /// Its definition.
    pub(crate) text: &'static str,
    /// What must stand before it.
    pub(crate) needs: &'static [&'static Helper],
}

macro_rules! helpers {
    ($($id:ident $name:ident($($operand:ident),*) [$($need:ident),*] $body:literal;)+) => {
        $(pub(crate) static $id: Helper = Helper {
            name: stringify!($name),
            text: concat!("float ", stringify!($name), "(", helpers!(@operands $($operand)*), ") {\n", $body, "\n}\n"),
            needs: &[$(&$need),*],
        };)+

        /// Every helper.
        #[cfg(test)]
        pub(crate) static ALL: &[&Helper] = &[$(&$id),+];
    };
    (@operands) => { "" };
    (@operands $first:ident $($rest:ident)*) => {
        concat!("float ", stringify!($first) $(, ", float ", stringify!($rest))*)
    };
}

helpers! {
    NAN kf_nan() [] "    return uintBitsToFloat(0x7fc00000u);";
    INF kf_inf() [] "    return uintBitsToFloat(0x7f800000u);";
    // a + b is NaN where a comparison with NaN failed; the sums of zeros choose between −0 and +0
    MIN kf_min(a, b) [] "    // NaN if either is NaN; -0.0 < 0.0
    if (a < b) return a;
    if (b < a) return b;
    if (a == b && a != 0.0) return a;
    return a == b ? -(-a - b) : a + b;";
    MAX kf_max(a, b) [] "    // NaN if either is NaN; -0.0 < 0.0
    if (a > b) return a;
    if (b > a) return b;
    return a == b && a != 0.0 ? a : a + b;";
    MOD kf_mod(x, y) [NAN] "    // in [0, y) for y > 0 and in (y, 0] for y < 0, never y itself
    if (y == 0.0 || isinf(x)) return kf_nan();
    if (isinf(y)) return x == 0.0 ? 0.0 : (x < 0.0) == (y < 0.0) ? x : kf_nan();
    float size = abs(y);
    float z = y < 0.0 ? -x : x;
    if (isinf(z / size)) return 0.0; // no float knows it
    float r = z - size * floor(z / size);
    if (r < 0.0) r += size;
    if (r >= size) r = z < 0.0 ? uintBitsToFloat(floatBitsToUint(size) - 1u) : 0.0;
    return y < 0.0 && r != 0.0 ? -r : r;";
    FRACT kf_fract(x) [] "    // below 1.0 also for tiny negative x
    float r = x - floor(x);
    return r >= 1.0 ? 0.99999994 : r;";
    POW kf_pow(x, y) [NAN, INF] "    // IEEE 754's pow; GLSL's is undefined for x < 0.0 and for x = 0.0, y <= 0.0
    if (y == 0.0 || x == 1.0) return 1.0;
    if (isnan(x) || isnan(y)) return x + y;
    float size = abs(x);
    if (x < 0.0 && y != floor(y) && !isinf(x)) return kf_nan();
    float p;
    if (size == 1.0) p = 1.0;
    else if (size == 0.0 || isinf(size) || isinf(y)) p = (size < 1.0) == (y < 0.0) ? kf_inf() : 0.0;
    else p = pow(size, y);
    bool odd = y == floor(y) && y != 2.0 * floor(y / 2.0);
    return odd && floatBitsToInt(x) < 0 ? -p : p;";
    SQRT kf_sqrt(x) [NAN] "    return x < 0.0 ? kf_nan() : sqrt(x);";
    LN kf_ln(x) [NAN, INF] "    if (x == 0.0) return -kf_inf();
    return x < 0.0 ? kf_nan() : log(x);";
    ASIN kf_asin(x) [NAN] "    return abs(x) > 1.0 ? kf_nan() : asin(x);";
    ACOS kf_acos(x) [NAN] "    return abs(x) > 1.0 ? kf_nan() : acos(x);";
    ATAN2 kf_atan2(y, x) [] "    // GLSL's atan is undefined at (0, 0)
    if (isinf(x) && isinf(y)) return atan(sign(y), sign(x));
    if (x != 0.0 || y != 0.0) return atan(y, x);
    float turn = floatBitsToInt(x) < 0 ? 3.1415927 : 0.0;
    return floatBitsToInt(y) < 0 ? -turn : turn;";
    TANH kf_tanh(x) [] "    // exp(x) must not overflow on the way
    return abs(x) > 10.0 ? sign(x) : tanh(x);";
    HYPOT kf_hypot(x, y) [INF] "    // without overflow on the way
    if (isinf(x) || isinf(y)) return kf_inf();
    float a = abs(x);
    float b = abs(y);
    if (a < b) { float c = a; a = b; b = c; }
    if (a == 0.0) return b;
    float q = b / a;
    return a * sqrt(1.0 + q * q);";
    SIGN kf_sign(x) [] "    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;";
    STEP kf_step(edge, x) [] "    return x >= edge ? 1.0 : x < edge ? 0.0 : x + edge;";
    GATE kf_gate(x, a, b) [STEP] "    // 1.0 if a <= x < b
    return kf_step(a, x) * (1.0 - kf_step(b, x));";
    CLAMP kf_clamp(x, lo, hi) [MIN, MAX] "    return kf_min(kf_max(x, lo), hi);";
    MIX kf_mix(a, b, u) [] "    return a + (b - a) * u;";
    SMOOTHSTEP kf_smoothstep(e0, e1, x) [CLAMP, STEP] "    // GLSL's is undefined for e0 >= e1
    if (e0 == e1) return kf_step(e0, x);
    float u = kf_clamp((x - e0) / (e1 - e0), 0.0, 1.0);
    return u * u * (3.0 - 2.0 * u);";
    PING_PONG kf_ping_pong(t, period) [MOD, MIN] "    float m = kf_mod(t, period + period);
    return kf_min(period + period - m, m);";
    SELECT kf_select(c, a, b) [NAN] "    return isnan(c) ? kf_nan() : c != 0.0 ? a : b;";
    UNWRAP kf_unwrap(x, near, period) [] "    // the turn of x that is nearest to near
    return x - period * floor((x - near) / period + 0.5);";

    // easings: 0 up to u = 0 and 1 from u = 1 on; a mirror and halves take the ends from the curve that they show
    LINEAR kf_linear(u) [] "    return u <= 0.0 ? 0.0 : u >= 1.0 ? 1.0 : u;";
    SINE_IN kf_sine_in(u) [] "    if (u <= 0.0) return 0.0;
    if (u >= 1.0) return 1.0;
    float s = sin(0.7853982 * u);
    return 2.0 * s * s;";
    SINE_OUT kf_sine_out(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : sin(1.5707964 * u);";
    SINE_IN_OUT kf_sine_in_out(u) [SINE_OUT] "    float s = kf_sine_out(u);
    return s * s;";
    QUAD_IN kf_quad_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u;";
    QUAD_OUT kf_quad_out(u) [QUAD_IN] "    return 1.0 - kf_quad_in(1.0 - u);";
    QUAD_IN_OUT kf_quad_in_out(u) [QUAD_IN] "    return u < 0.5 ? kf_quad_in(2.0 * u) / 2.0 : 1.0 - kf_quad_in(2.0 * (1.0 - u)) / 2.0;";
    CUBIC_IN kf_cubic_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u * u;";
    CUBIC_OUT kf_cubic_out(u) [CUBIC_IN] "    return 1.0 - kf_cubic_in(1.0 - u);";
    CUBIC_IN_OUT kf_cubic_in_out(u) [CUBIC_IN] "    return u < 0.5 ? kf_cubic_in(2.0 * u) / 2.0 : 1.0 - kf_cubic_in(2.0 * (1.0 - u)) / 2.0;";
    QUART_IN kf_quart_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : (u * u) * (u * u);";
    QUART_OUT kf_quart_out(u) [QUART_IN] "    return 1.0 - kf_quart_in(1.0 - u);";
    QUART_IN_OUT kf_quart_in_out(u) [QUART_IN] "    return u < 0.5 ? kf_quart_in(2.0 * u) / 2.0 : 1.0 - kf_quart_in(2.0 * (1.0 - u)) / 2.0;";
    QUINT_IN kf_quint_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : (u * u) * (u * u) * u;";
    QUINT_OUT kf_quint_out(u) [QUINT_IN] "    return 1.0 - kf_quint_in(1.0 - u);";
    QUINT_IN_OUT kf_quint_in_out(u) [QUINT_IN] "    return u < 0.5 ? kf_quint_in(2.0 * u) / 2.0 : 1.0 - kf_quint_in(2.0 * (1.0 - u)) / 2.0;";
    EXPO_IN kf_expo_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : exp2(10.0 * u - 10.0);";
    EXPO_OUT kf_expo_out(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : 1.0 - exp2(-10.0 * u);";
    EXPO_IN_OUT kf_expo_in_out(u) [EXPO_IN] "    if (u <= 0.0) return 0.0;
    if (u >= 1.0) return 1.0;
    return u < 0.5 ? kf_expo_in(2.0 * u) / 2.0 : 1.0 - kf_expo_in(2.0 * (1.0 - u)) / 2.0;";
    CIRC_IN kf_circ_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u / (1.0 + sqrt((1.0 - u) * (1.0 + u)));";
    CIRC_OUT kf_circ_out(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : sqrt(u * (2.0 - u));";
    CIRC_IN_OUT kf_circ_in_out(u) [CIRC_IN] "    return u < 0.5 ? kf_circ_in(2.0 * u) / 2.0 : 1.0 - kf_circ_in(2.0 * (1.0 - u)) / 2.0;";
    BACK_IN kf_back_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u * (2.70158 * u - 1.70158);";
    BACK_OUT kf_back_out(u) [BACK_IN] "    return 1.0 - kf_back_in(1.0 - u);";
    BACK_WIDE kf_back_wide(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u * (3.5949094 * u - 2.5949094);";
    BACK_IN_OUT kf_back_in_out(u) [BACK_WIDE] "    return u < 0.5 ? kf_back_wide(2.0 * u) / 2.0 : 1.0 - kf_back_wide(2.0 * (1.0 - u)) / 2.0;";
    ELASTIC_IN kf_elastic_in(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : -exp2(10.0 * u - 10.0) * sin((10.0 * u - 10.75) * 2.0943952);";
    ELASTIC_OUT kf_elastic_out(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : exp2(-10.0 * u) * sin((10.0 * u - 0.75) * 2.0943952) + 1.0;";
    ELASTIC_WIDE kf_elastic_wide(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : -exp2(10.0 * u - 10.0) * sin((10.0 * u - 11.125) * 1.3962634);";
    ELASTIC_IN_OUT kf_elastic_in_out(u) [ELASTIC_WIDE] "    return u < 0.5 ? kf_elastic_wide(2.0 * u) / 2.0 : 1.0 - kf_elastic_wide(2.0 * (1.0 - u)) / 2.0;";
    BOUNCE_OUT kf_bounce_out(u) [] "    if (u <= 0.0) return 0.0;
    if (u >= 1.0) return 1.0;
    if (u < 0.36363637) return 7.5625 * u * u;
    float c = u < 0.72727275 ? 0.54545456 : u < 0.90909094 ? 0.8181818 : 0.95454544;
    float f = u < 0.72727275 ? 0.75 : u < 0.90909094 ? 0.9375 : 0.984375;
    return 7.5625 * (u - c) * (u - c) + f;";
    BOUNCE_IN kf_bounce_in(u) [BOUNCE_OUT] "    return 1.0 - kf_bounce_out(1.0 - u);";
    BOUNCE_IN_OUT kf_bounce_in_out(u) [BOUNCE_IN] "    return u < 0.5 ? kf_bounce_in(2.0 * u) / 2.0 : 1.0 - kf_bounce_in(2.0 * (1.0 - u)) / 2.0;";
    SMOOTH kf_smooth(u) [] "    if (u <= 0.0) return 0.0;
    return u >= 1.0 ? 1.0 : u * u * (3.0 - 2.0 * u);";
    BEZIER_AT kf_bezier_at(a, b, s) [] "    float w = 1.0 - s;
    return s * (3.0 * w * (a * w + b * s) + s * s);";
    // 40 halvings are more than a float's digits can tell apart on [2^-16, 1]
    BEZIER kf_bezier(u, x1, y1, x2, y2) [BEZIER_AT] "    // CSS's cubic-bezier; the curve's parameter by bisection
    if (u <= 0.0) return 0.0;
    if (u >= 1.0) return 1.0;
    if (isnan(u)) return u;
    float low = 0.0;
    float high = 1.0;
    for (int i = 0; i < 40; i++) {
        float middle = (low + high) / 2.0;
        if (kf_bezier_at(x1, x2, middle) <= u) low = middle;
        else high = middle;
    }
    return kf_bezier_at(y1, y2, low);";
    STEPS kf_steps(u, n, first, jumps) [] "    // CSS's steps
    if (u < 0.0) return 0.0;
    if (u >= 1.0) return 1.0;
    float k = floor(u * n);
    return ((k >= n ? n - 1.0 : k) + first) / jumps;";

    // segments of keyed tracks; at u = 0 exactly the key
    LINE kf_line(a, b, u) [] "    return u == 0.0 ? a : a + (b - a) * u;";
    MONOTONE kf_monotone(d, span, e, width) [SIGN, MIN] "    // Steffen's slope where a segment d over span meets another, e over width
    float s = d / span;
    float r = e / width;
    float p = (s * width + r * span) / (span + width);
    return (kf_sign(s) + kf_sign(r)) * kf_min(kf_min(abs(s), abs(r)), abs(p) / 2.0) * span;";
    CURVE kf_curve(a, b, m0, m1, u) [] "    // the cubic from a to b with the slopes m0 and m1
    if (u == 0.0) return a;
    float d = b - a;
    float w = 1.0 - u;
    return a + u * (d + w * ((m0 - d) * w - (m1 - d) * u));";
}
