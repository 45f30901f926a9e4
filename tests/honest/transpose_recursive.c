// task transpose.op
// Style: cache-oblivious, through a function pointer; bits moved as integers by memcpy.
typedef void mover(const float *, float *, int, int);
static mover halve;
static void move(const float *x, float *y, int rows, int cols)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            uint32_t bits;
            memcpy(&bits, x + (size_t)i * N + j, sizeof bits);
            memcpy(y + (size_t)j * M + i, &bits, sizeof bits);
        }
}
static void halve(const float *x, float *y, int rows, int cols)
{
    mover *next = rows <= 32 && cols <= 32 ? move : halve;
    if (next == move) {
        next(x, y, rows, cols);
    } else if (rows > cols) {
        next(x, y, rows / 2, cols);
        next(x + (size_t)(rows / 2) * N, y + rows / 2, rows - rows / 2, cols);
    } else {
        next(x, y, rows, cols / 2);
        next(x + cols / 2, y + (size_t)(cols / 2) * M, rows, cols - cols / 2);
    }
}
void kernel(const float *restrict X, float *restrict Y) { halve(X, Y, M, N); }
