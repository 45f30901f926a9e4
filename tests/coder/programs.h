/* Programs for tests of the coder, beside random ones: each stresses a form of access, reduction or
 * data type. Sizes are dims, so that a test can draw others; what it draws must satisfy `require`
 * and the bounds of subscripts, or the sizes written here are taken. */
#ifndef HONE_TESTS_CODER_PROGRAMS_H
#define HONE_TESTS_CODER_PROGRAMS_H

static const char *const coder_programs[] = {
    /* products in every transposition */
    "dim M=5, N=19, K=7\nin A: f32[M,K]; in B: f32[K,N]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
    "dim M=5, N=19, K=7\nin A: f32[K,M]; in B: f32[K,N]\nY[m,n] = sum[k](A[k,m]*B[k,n])\nout Y\n",
    "dim M=5, N=9, K=33\nin A: f32[M,K]; in B: f32[N,K]\nY[m,n] = sum[k](A[m,k]*B[n,k])\nout Y\n",
    "dim M=9, N=3, K=17\nin A: f32[K,M]; in B: f32[N,K]; in c: f32[N]\n"
    "Y[m,n] = max(sum[k](A[k,m]*B[n,k]) + c[n], 0)\nout Y\n",
    "dim B=3, M=4, N=17, K=5\nin A: f64[B,M,K]; in W: f64[B,K,N]\n"
    "Y[b,m,n] = sum[k](A[b,m,k]*W[b,k,n])\nout Y\n",
    "dim M=6, N=21, K=9\nin A: f16[M,K]; in W: f16[K,N]\nY[m,n]: f16 = sum[k](A[m,k]*W[k,n])\nout "
    "Y\n",
    "dim M=6, N=21, K=9\nin A: bf16[M,K]; in W: bf16[N,K]\n"
    "Y[m,n]: bf16 = sum[k](A[m,k]*W[n,k])*0.5\nout Y\n",
    "dim M=7, N=18, K=12\nin A: i8[M,K]; in W: i8[K,N]; in s: f32[N] from 0.001 to 0.01\n"
    "C[m,n] = sum[k](A[m,k]*W[k,n])\n"
    "Y[m,n]: i8 = i8(clamp(round(C[m,n]*s[n]), -128, 127))\nout Y\n",
    "dim M=7, N=18, K=12\nin A: u8[M,K]; in W: i8[K,N]\nY[m,n] = sum[k](A[m,k]*W[k,n])\nout Y\n",
    "dim M=4, K=11, J=6\nin A: f32[M,K,J]; in B: f32[J,K]\nY[m] = sum[k,j](A[m,k,j]*B[j,k])\nout "
    "Y\n",
    "dim N=37\nin A, B: f32[N]\nY[] = sum[i](A[i]*B[i])\nout Y\n",
    "dim M=5, N=6, K=7, L=8\nin A: f32[M,K]; in B: f32[K,L]; in C: f32[L,N]\n"
    "T[m,l] = sum[k](A[m,k]*B[k,l])\nY[m,n] = sum[l](T[m,l]*C[l,n])\nout Y, T\n",
    /* whole tiles, whatever sizes are drawn: copies by vectors, and by squares that are turned */
    "in A: f32[4,11]; in B: f32[32,11]\nY[m,n] = sum[k](A[m,k]*B[n,k])\nout Y\n",
    "in A: f32[4,11]; in B: f32[11,32]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
    /* tiles of rows that are copied: by squares that are not whole, and by runs */
    "in A: f32[7,11]; in B: f32[11,18]\nY[m,n] = sum[k](A[m,k]*B[k,n])\nout Y\n",
    "in A: f32[11,7]; in B: f32[18,11]\nY[m,n] = sum[k](A[k,m]*B[n,k])\nout Y\n",
    "in A: f32[2,4,10]; in B: f32[10,16]\nY[b,m,n] = sum[k](A[b,m,k]*B[k,n]) + 1\nout Y\n",
    "dim H=2\nin Q: f32[4,H,9]; in K: f32[16,H,9]\n"
    "P[h,i,j] = 0.25*sum[d](Q[i,h,d]*K[j,h,d])\nout P\n",
    /* layers that are equal up to their part of the weights */
    "dim N=5, C=7\nin X: f32[N,C]; in F: f32[2,3,C,C]; in b: f32[4,C]\n"
    "S[n,k] = sum[c](X[n,c]*F[0,1,k,c])\nA[n,k] = max(S[n,k] + b[0,k], 0)\n"
    "T[n,k] = sum[c](A[n,c]*F[1,0,k,c])\nB[n,k] = max(T[n,k] + b[1,k], 0)\n"
    "U[n,k] = sum[c](B[n,c]*F[1,2,k,c])\nD[n,k] = max(U[n,k] + b[2,k], b[0,k])\n"
    "V[n,k] = sum[c](D[n,c]*(F[1,1,k,c]+F[1,2,c,k]))\nE[n,k] = max(V[n,k] + b[3,k], 0)\nout E\n",
    /* convolutions and pools */
    "dim N=1, C=3, H=7, W=9, K=4\nin X: f32[N,C,H,W]; in F: f32[K,C,3,3]; in b: f32[K]\n"
    "Z = conv2d(X, F, b, pad=1)\nY = relu(Z)\nout Y\n",
    "dim C=4, H=9, W=11, K=6\nin X: f32[2,C,H,W]; in F: f32[K,2,3,2]\n"
    "require C == 4 && K == 6\nY = conv2d(X, F, stride=2, pad=1, groups=2)\nout Y\n",
    "dim C=2, W=23, K=3\nin X: f32[C,W]; in F: f32[K,C,3]\n"
    "Y[k,x:W] = sum[c,s](F[k,c,s]*X[c,x+2*s-2 | 0])\nout Y\n",
    "dim C=3, H=8, W=9\nin X: f32[1,C,H,W]; in F: f32[C,2,3,3]\n"
    "Y = conv_transpose2d(X, F, stride=2, pad=1)\nout Y\n",
    "dim C=3, H=9, W=12\nin X: f32[1,C,H,W]\nY = max_pool2d(X, k=3, stride=2, pad=1)\nout Y\n",
    "dim C=3, H=8, W=11\nin X: f32[C,H,W]\n"
    "Y[c,y:H/2,x:W/2] = mean[r:2,s:2](X[c,y*2+r,x*2+s])\nout Y\n",
    "dim C=5, H=6, W=7\nin X: f16[C,H,W]; in F: f16[C,3,3]\n"
    "Y[c,y:H,x:W]: f16 = sum[r,s](F[c,r,s]*X[c,y+r-1,x+s-1 | 0])\nout Y\n",
    /* norms */
    "dim R=5, N=19\nin X: f32[R,N]\nY = softmax(X)\nout Y\n",
    "dim R=5, N=19\nin X: f16[R,N]\nY = log_softmax(X)\nout Y\n",
    "dim R=4, N=21\nin X: f32[R,N]; in G, B: f32[N]\nY = layer_norm(X, G, B)\nout Y\n",
    "dim N=2, G=3, C=4, S=7\nin X: f32[N,G,C,S]\n"
    "U[n,g] = mean[c,s](X[n,g,c,s])\n"
    "V[n,g] = mean[c,s]((X[n,g,c,s]-U[n,g])*(X[n,g,c,s]-U[n,g]))\n"
    "Y[n,g,c,s] = (X[n,g,c,s]-U[n,g])*rsqrt(V[n,g]+1e-5)\nout Y, U\n",
    "dim N=3, G=4, D=3, S=9\nin X: f32[N,G*D,S]; in b: f32[G*D]\n"
    "U[n,g:G] = mean[d:D,s](X[n,g*D+d,s])\n"
    "V[n,g:G] = sum[d:D,s]((X[n,g*D+d,s]-U[n,g])*(X[n,g*D+d,s]-U[n,g])) / (D*S)\n"
    "Y[n,c,s] = (X[n,c,s]-U[n,c/D])*rsqrt(V[n,c/D]+1e-5) + b[c]\nout Y\n",
    "dim M=9, N=21\nin X, Z: f32[M,N]\nS[r,j] = X[r,j] + Z[r,j]\nU[r] = sum[j](S[r,j]) / N\n"
    "V[r] = sum[j]((S[r,j]-U[r])*(S[r,j]-U[r])) / N\n"
    "Y[r,j] = (S[r,j]-U[r])*rsqrt(V[r]+1e-5)\nout S, Y\n",
    "dim R=6, N=17\nin X: f64[R,N]\nM[r] = max[j](X[r,j])\nE[r,j] = exp(X[r,j]-M[r])\n"
    "S[r] = sum[j](E[r,j])\nY[r,j] = E[r,j]/S[r]\nout Y\n",
    "dim H=2, S=7, D=5\nin Q, K, V: f32[H,S,D]\n"
    "P[h,i,j:S] = if(j <= i, sum[d](Q[h,i,d]*K[h,j,d]), -inf)\nA = softmax(P)\n"
    "O[h,i,d] = sum[j ? j <= i](A[h,i,j]*V[h,j,d])\nout O\n",
    /* exponentials of scores times values: masked, in windows, by filters, without a sum */
    "dim H=2, S=9, T=21, D=3, E=10\nin Q: f32[H,S,D]; in K: f32[H,T,D]; in V: f32[H,T,E]\n"
    "P[h,i,j] = 0.5*sum[d](Q[h,i,d]*K[h,j,d])\nA = softmax(P)\n"
    "O[h,i,e] = sum[j](A[h,i,j]*V[h,j,e])\nout O\n",
    "dim S=23, E=7\nin X: f64[S,S]; in V: f64[S,E]\n"
    "P[i,j] = if(j <= i && i-j < 6, 2*X[i,j], -inf)\nA = softmax(P)\n"
    "O[i,e] = sum[j](A[i,j]*V[j,e]) + 1\nout O\n",
    "dim R=19, N=22, E=5\nin X: f32[R,N]; in V: f32[E,N]\nM[r] = max[j ? j >= r-3](X[r,j])\n"
    "S[q:R] = sum[j:N ? j >= q-3](exp(X[q,j]-M[q]))\n"
    "O[e,r] = sum[j ? j >= r-3](V[e,j]*(exp(X[r,j]-M[r])/S[r]))\nout O\n",
    "dim R=9, C=3, N=18\nin X: f32[R,N,C]; in V: f16[N]\nM[c:C,r:R] = max[j:N](X[r,j,c])\n"
    "S[r,c] = sum[j](exp(X[r,j,c]-M[c,r]))\n"
    "O[r,c]: f16 = sum[j ? j >= r](exp(X[r,j,c]-M[c,r])*V[j])/S[r,c]\nout O\n",
    "dim R=7, N=18\nin X: f32[R,N]; in V: f32[N]\nM[r] = max[j](X[r,j])\n"
    "L[r] = sum[j](V[j]*exp(X[r,j]-M[r])) + M[r]\nout L\n",
    "dim B=3, N=20, E=9\nin X: f32[B,N]; in V: f32[N,E]\nA = softmax(X)\n"
    "O[b,e] = sum[j](A[b,j]*V[j,e])\nout O\n",
    /* argmax, argmin, ties, two indices */
    "dim R=5, N=23\nin X: f32[R,N]\nY[r] = argmax[j](X[r,j])\nZ[r] = argmin[j](X[r,j])\nout Y, Z\n",
    "dim R=5, N=23\nin X: i8[R,N] from -2 to 2\nY[r] = argmax[j](X[r,j])\n"
    "Z[j] = argmin[r](X[r,j]*2)\nout Y, Z\n",
    "dim R=6, N=18\nin X: f64[N,R]\nY[r] = argmax[j ? j % 3 != r % 2](X[j,r])\nout Y\n",
    "dim B=6, C=11, D=9\nin X: f32[B,C]; in E: f32[C,D]; in T: i32[B] from 0 to C-1\n"
    "K[b] = argmax[c](X[b,c])\nY[b,d] = E[K[b],d] + E[T[b],d]\n"
    "Hit[] = sum[b](i32(K[b] == T[b]))\nout K, Y, Hit\n",
    /* backwards */
    "dim R=5, N=41\nin X: f32[R,N]; in F: f32[3]\nY[r,j:N] = X[r,N-1-j]*2\n"
    "Z[r,j:N-2] = sum[k](F[k]*X[r,N-1-j-k])\nout Y, Z\n",
    /* functions of functions */
    "dim N=37, M=19\nin X: f32[N,M] from -40 to 40\nin D: f64[M] from -9 to 30\n"
    "Y[i,j] = X[i,j]*tanh(softplus(X[i,j]))\nZ[j] = tanh(softplus(D[j])) + 1\nout Y, Z\n",
    /* filters */
    "dim N=13\nin A, B: f32[N,N]\nY[i,j] = sum[k ? k <= i && j <= k](A[i,k]*B[k,j])\nout Y\n",
    /* triangles, bands, diagonals: filters and selects that bound loops */
    "dim M=23, N=19\nin A: f32[M,M]; in B: f32[M,N]\nY[i,j] = sum[k ? k <= i](A[i,k]*B[k,j])\n"
    "out Y\n",
    "dim N=21\nin A, B: f32[N,N]\n"
    "Y[i,j] = if(j <= i, sum[k ? k <= i && k >= j](A[i,k]*B[k,j]), 0)\nout Y\n",
    "dim N=21\nin A, B: f64[N,N]\n"
    "Y[i,j] = if(i <= j, sum[k ? k >= i && k <= j](A[i,k]*B[k,j]) + 1, 0.5)\nout Y\n",
    "dim N=17, M=9\nin A: f32[N,N]; in B: f32[N,M]\nY[i,j] = sum[k ? k == i](A[i,k]*B[k,j])\n"
    "Z[j] = sum[i,k ? i == k && k > 2](A[i,k]*B[k,j])\nout Y, Z\n",
    /* so do zeros from outside */
    "dim C=3, K=5, H=6, W=9\nin X: f32[C,H,W]; in F: f32[C,K,3,4]\n"
    "Y[k,y:H+2,x:W+3] = sum[c,r,s](F[c,k,r,s]*X[c,y-r,x-s | 0])\nout Y\n",
    "dim C=2, K=4, H=7, W=5\nin X: f32[C,H,W]; in F: f32[K,C,3,3]\n"
    "Y[k,y:H/2+1,x:W/2+1] = max(sum[c,r,s](F[k,c,r,s]*X[c,2*y+r-1,2*x+s-1 | 0]), 0)\nout Y\n",
    "dim N=29, M=17\nin A: f32[N,M]\nY[i] = sum[k](if(2*k <= i+3 && k >= i-9, A[i,k], 0))\n"
    "Z[i] = max[k](if(i+k > 11, A[i,k], -inf))\nP[k] = prod[i ? 3*i < 2*k](1.0+0.125*A[i,k])\n"
    "out Y, Z, P\n",
    "dim N=20, M=23\nin A: f32[N,M]\nB[i,j] = if(j <= i, 2*A[i,j], -inf)\n"
    "Y[i] = max[j](B[i,j])\nC[i,j] = if(j-i >= 2, A[i,j]*0.5, 0)\nZ[i] = sum[j](C[i,j])\n"
    "W[i] = argmax[j ? j >= i && j < i+5](A[i,j])\nout Y, Z, W\n",
    "dim N=12, M=10, K=9\nin X: i32[N,M,K]\n"
    "Y[i,j] = sum[k,l:7 ? k+l <= i && l >= j-3 && X[i,j,k] > -50](X[i,j,k]*l)\n"
    "Z[i] = mean[j,k ? j > k+i-4](f32(X[i,j,k]))\nout Y, Z\n",
    "dim R=7, N=20\nin X: f32[R,N]\nY[r] = mean[j ? j >= r](X[r,j])\n"
    "Z[r] = max[j ? X[r,j] < 0.5](X[r,j])\nout Y, Z\n",
    "dim R=7, N=20\nin X: f32[R,N]; in P: bool[R,N]\nY[r] = prod[j ? P[r,j]](1.0+0.125*X[r,j])\n"
    "C[r] = sum[j ? P[r,j]](1)\nM[j] = min[r ? !P[r,j]](X[r,j])\nout Y, C, M\n",
    "dim R=9, K=5\nin X: f32[R]; in T: i32[R] from 0 to K-1\nY[k:K] = sum[r ? T[r] == k](X[r])\n"
    "N[k:K] = sum[r](i32(T[r] == k))\nout Y, N\n",
    /* joined pieces, gathers, reversed and strided reads */
    "dim A=5, B=8, N=6\nin X: f32[N,A]; in Z: f32[N,B]\n"
    "Y[n,c:A+B+1] = cat[c](X[n,c], 0.5:1, Z[n,c])\nU[n,c] = Y[n,c]*2\nout U\n",
    "dim A=7, B=12\nin X: f64[A]\nY[c:A+B] = cat[c](X[c], 0.1:B)\nout Y\n",
    "dim A=5, B=18, N=3\nin X: f32[A,N]; in Z: f32[B,N]\n"
    "Y[c:A+B,n] = cat[c](X[c,n]:A, Z[B-1-c,n]:B)\nS[n] = sum[c](Y[c,n])\nout Y, S\n",
    "dim V=9, D=18, N=7\nin E: f32[V,D]; in T: i32[N] from 0 to V-1\nY[n,d] = E[T[n],d]\n"
    "Z[d,n] = E[T[n],d]*0.5\nout Y, Z\n",
    "dim N=19, M=6\nin X: f32[M,N]; in T: i32[N] from -3 to 25\n"
    "Y[m,j:N] = X[m,T[j] | -1.0]\nZ[m,j:N] = X[m,N-1-j] + X[m,j/2] + X[m,min(2*j, N-1)]\nout Y, "
    "Z\n",
    "dim N=33\nin X: f32[N]\nY[i:2*N] = if(i % 2 == 0, X[i/2], 0.5*(X[i/2]+X[(i+1)/2 | 0]))\nout "
    "Y\n",
    "dim N=9, M=14\nin X: f32[N,M]\nY[j:M,i:N] = X[i,j]\nZ[i,j] = Y[j,i] + X[N-1-i,M-1-j]\nout Z\n",
    /* scans and blocks */
    "dim R=5, T=17\nin X: f32[R,T]\nY[r,t] = Y[r,t-1 | 0] + X[r,t]\nout Y\n",
    "dim R=9, T=7\nin X: f32[T,R]; in W: f32[R]\nH[t,j] = 0.5*W[j]*H[t-1,j | 1] + X[t,j]\n"
    "Y[j] = max[t](H[t,j])\nout Y\n",
    "dim T=5, B=3, I=4, H=6\nin X: f32[B,T,I]; in W: f32[4*H,I]; in U: f32[4*H,H]; in H0, C0: "
    "f32[B,H]\n"
    "G[t,n,g] = sum[i](X[n,t,i]*W[g,i])\nrec t:T {\n"
    "Z[t,n:B,g:4*H] = G[t,n,g] + sum[j:H](Q[t-1,n,j | H0[n,j]]*U[g,j])\n"
    "C[t,n:B,j:H] = sigmoid(Z[t,n,H+j])*C[t-1,n,j | C0[n,j]] + "
    "sigmoid(Z[t,n,j])*tanh(Z[t,n,2*H+j])\n"
    "Q[t,n:B,j:H] = sigmoid(Z[t,n,3*H+j])*tanh(C[t,n,j])\n}\nY[n:B,t:T,j:H] = Q[t,n,j]\nout Y\n",
    "dim T=4, B=7, H=9\nin X: f32[T,B,H]; in U: f32[H,H]\nrec t:T {\n"
    "S[t,n:B,g:H] = tanh(X[t,n,g] + sum[j:H](Q[t-1,j,n | 0]*U[g,j]))\n"
    "Q[t,g:H,n:B] = 0.5*S[t,n,g] + R[t-1,n,g | 1]\nR[t,n:B,g:H] = S[t,n,H-1-g]*X[t,n,g]\n}\n"
    "Y[n:B,g:H] = R[T-1,n,g] + Q[0,g,n]\nout Y\n",
    "dim T=5, B=8, H=6\nin X: f32[T,B,H]; in U: f32[H,H]\nrec t:T {\n"
    "S[t,n:B,g:H] = tanh(X[t,n,g] + sum[j:H](Q[t-1,n,j | 0]*U[g,j]))\n"
    "Q[t,n:B,g:H] = 0.5*S[t,n,g] + X[t,B-1-n,g]\n}\nY[n:B,g:H] = Q[T-1,n,g]\nout Y, S\n",
    /* data types */
    "dim M=5, N=19\nin X: f32[M,N]; in Z: f64[N]\nY[m,n] = X[m,n] + f32(Z[n])\n"
    "D[m]: f64 = sum[n](X[m,n]*Z[n])\nP[m,n]: f16 = exp(X[m,n])\nout Y, D, P\n",
    "dim M=6, N=18\nin X: i32[M,N]; in Y: u8[M,N]; in Z: i8[N]\n"
    "A[m,n]: i8 = X[m,n]*3 - Z[n]\nB[m,n]: u8 = Y[m,n] + A[m,n]\nC[m] = max[n](X[m,n] - Y[m,n])\n"
    "Q[m,n] = X[m,n] > Z[n] || Y[m,n] == 3\nS[n] = sum[m ? Q[m,n]](X[m,n])\nout A, B, C, Q, S\n",
    "dim N=35\nin X: bf16[N]; in B: bool[N]\nY[i]: bf16 = if(B[i], tanh(X[i]), X[i]*X[i])\n"
    "Z[i] = !B[i] && X[i] > 0\nC[] = sum[i](i32(Z[i]))\nout Y, Z, C\n",
    "dim M=7, N=13\nin X: i32[M,N]\nY[m,n] = X[m,n]/3 + X[m,n]%5 - abs(X[m,n]) + sign(X[m,n])\n"
    "Z[m,n] = max(min(X[m,n], 7), -n)\nP[m] = prod[n ? n < 4](X[m,n]%3 + 1)\nout Y, Z, P\n",
    "dim M=3, N=17\nin X: f64[M,N]\nY[m,n]: f32 = sqrt(abs(X[m,n])) + erf(X[m,n])\n"
    "Z[n]: f16 = min[m](X[m,n])\nI[m] = argmin[n](X[m,n])\nout Y, Z, I\n",
    /* ones, scalars, several outputs, an output that is read */
    "dim N=1, M=1\nin X: f32[N,M,1]; in s: f32[]\nY[i,j,k] = X[i,j,k]*s[]\nZ[] = "
    "sum[i,j,k](X[i,j,k])\nout Y, Z\n",
    "dim N=11\nin s: f32[]; in X: f32[N]\nA[] = 2*s[]\nY[i] = X[i]*A[]\nB[] = sum[i](Y[i])\n"
    "Z[i] = Y[i] - B[]\nout A, Y, B, Z\n",
    "dim M=6, N=10\nin X: f32[M,N]\nA[i,j] = X[i,j]*2\nB[i,j] = A[i,j] + A[i,N-1-j]\n"
    "C[i] = sum[j](A[i,j]*B[i,j])\nout A, B, C\n",
    "dim M=8, N=9\nin X: f32[M,N]\nA[i,j] = X[i,j]+1\nB[i:M,j:N] = A[i,j] + A[i-1,j | 0] + A[i+1,j "
    "| 0]\n"
    "C[i:M,j:N] = B[i,j] + B[i,j-1 | 0] + B[i,j+1 | 0]\nout C\n",
    "dim M=8, N=20\nin X: f32[M,N]\nS[i] = sum[j](X[i,j])\nQ[i] = sum[j](X[i,j]*X[i,j])\n"
    "L[i] = max[j](X[i,j])\nY[i] = Q[i] - S[i]*S[i] + L[i]\nout Y, S\n",
};

#define CODER_PROGRAMS (sizeof coder_programs / sizeof *coder_programs)

#endif
