// task total.op
// Style: Neumaier's sum, from the last element to the first; infinities have no compensation.
void kernel(const float *x, float *out)
{
    float s = 0, c = 0;
    for (int i = N - 1; i >= 0; i--) {
        const float t = s + x[i];
        c += fabsf(s) >= fabsf(x[i]) ? (s - t) + x[i] : (x[i] - t) + s;
        s = t;
    }
    *out = isinf(s) ? s : s + c;
}
