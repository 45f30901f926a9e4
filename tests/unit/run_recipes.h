/* What each recipe does: see run_recipes.c, which prints this table with HONE_SHOW_ROWS=1. */
{"ai-cuda-engineer",
 24,
 "2 coder, profiler, 4 coder, 4 profiler, 4 coder, 3 profiler, 4 coder, 2 profiler",
 "builtin; coder<0 same; coder 0<0 best; coder 1<2 dropped; coder 2<2 same; coder 3<2 best; coder "
 "4<2 slower; coder 5<4 best; coder 6<6 best; coder 7<5 dropped; coder 8<2 slower; coder 9<10 "
 "best; coder 10<8 best; coder 11<8 best; coder 12<7 slower",
 "coder: contract task top best profile plan; profiler: base profile remarks",
 "calls"},
    {"akg",
     24,
     "2 planner, 2 coder, 2 planner, 2 coder, 2 planner, 2 coder, 2 planner, 2 coder, debugger, "
     "controller, 6 coder",
     "coder 0 best; coder 1 dropped; coder 2 best; coder 3 best; compose 0 best; coder 4 accepted; "
     "coder 5 best; coder 6<6 best; coder 7<6; debugger 103<8 dropped; coder 8<7 slower; coder 9<7 "
     "best; coder 10<11 best; coder 11<11 best; coder 12<13 slower; coder 13<12 dropped",
     "planner: machine task base stages profile question; debugger: contract task candidate "
     "verdict question; controller: task candidate verdict; coder: contract task skills cases base "
     "other",
     "calls"},
    {"astra",
     14,
     "tester, profiler, planner, coder, profiler, planner, coder, profiler, planner, coder, "
     "profiler, planner, coder, profiler",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<2 accepted; coder 3<3 best",
     "tester: contract.short task question; planner: task base profile history verdict question; "
     "coder: contract task base plan; profiler: machine base stages profile",
     "calls"},
    {"best-of-n",
     20,
     "16 coder",
     "coder 0 best; coder 1 dropped; coder 2 accepted; coder 3 best; coder 4 accepted; coder 5 "
     "best; coder 6 best; coder 7 dropped; coder 8 accepted; coder 9 best; coder 10 best; coder 11 "
     "best; coder 12 accepted; coder 13 dropped; coder 14 best; coder 15 best",
     "coder: contract task",
     "rounds"},
    {"caesar",
     14,
     "10 coder",
     "coder 0 best; coder 1<0 dropped; coder 2<1 accepted; coder 3<2 best; coder 4<3 slower; coder "
     "5<4 best; coder 6<5 best; coder 7<6 dropped; coder 8<7 accepted; coder 9<8 best",
     "coder: contract task base profile history verdict",
     "rounds"},
    {"cuda-l1",
     20,
     "20 coder",
     "builtin; coder 0<0 best; coder 1<0 dropped; coder 2<0 accepted; coder 3<0 best; coder 4<0 "
     "accepted; coder 5<0 best; coder 6<0 best; coder 7<0 dropped; coder 8<0 accepted; coder 9<0 "
     "best; coder 10<0 best; coder 11<0 best; coder 12<0 accepted; coder 13<0 dropped; coder 14<0 "
     "best; coder 15<0 best; coder 16<0 accepted; coder 17<0 best; coder 18<0 best; coder 19<0 "
     "dropped",
     "coder: contract task exemplars",
     "calls"},
    {"cuda-llm",
     14,
     "14 coder",
     "coder 0 best; coder 1 dropped; coder 2 accepted; coder 3 best; coder 4<3 slower; coder 5<3 "
     "best; coder 6<3 best; coder 7<3 dropped; coder 8<6 slower; coder 9<6 best; coder 10<6 best; "
     "coder 11<6 best; coder 12<11 slower; coder 13<11 dropped",
     "coder: contract machine task base history verdict",
     "calls"},
    {"cudaforge",
     14,
     "coder, critic optimization, coder, critic correction, coder, critic optimization, coder, "
     "critic optimization, coder, critic optimization, coder, critic optimization, coder, critic "
     "optimization",
     "coder 0 best; coder 1<0 dropped; coder 2<1 accepted; coder 3<2 best; coder 4<3 slower; coder "
     "5<4 best; coder 6<5 best",
     "critic correction: machine task base verdict; coder: contract task base plan verdict; critic "
     "optimization: machine task base profile verdict",
     "calls"},
    {"diffagent",
     14,
     "3 planner, 3 coder, 2 debugger, 3 planner, 3 coder",
     "builtin; coder 0<0 best; coder 1<0; debugger 103<2; debugger 104<3 accepted; coder 2<0 "
     "accepted; coder 3<1,4 best; coder 4<1 slower; coder 5<1,4 best",
     "debugger: contract task candidate verdict question; planner: machine task menu base "
     "leaderboard question; coder: contract task base other plan question",
     "calls"},
    {"evoengineer-free",
     14,
     "14 coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<1 same; coder 3<1 best; coder 4<4 "
     "slower; coder 5<4 best; coder 6<6 best; coder 7<7 dropped; coder 8<7 slower; coder 9<7 best; "
     "coder 10<10 best; coder 11<11 best; coder 12<12 slower; coder 13<12 dropped",
     "coder: contract task best",
     "calls"},
    {"evoengineer-full",
     14,
     "6 coder, crossover, 2 coder, 3 crossover, coder, crossover",
     "builtin; coder 0<0 best; coder 1<0 dropped; coder 2<0 accepted; coder 3<0 best; coder 4<3 "
     "slower; coder 5<4 best; crossover 200<0,4 accepted; coder 6<1 best; coder 7<8 dropped; "
     "crossover 201<3,8 accepted; crossover 202<8,6 slower; crossover 203<1,6 accepted; coder 8<8 "
     "slower; crossover 204<4,12 slower",
     "coder: contract task base insights; crossover: contract task best base other insights "
     "question",
     "calls"},
    {"evoengineer-insight",
     14,
     "14 coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<1 same; coder 3<1 best; coder 4<4 "
     "slower; coder 5<4 best; coder 6<6 best; coder 7<7 dropped; coder 8<7 slower; coder 9<7 best; "
     "coder 10<10 best; coder 11<11 best; coder 12<12 slower; coder 13<12 dropped",
     "coder: contract task best insights",
     "calls"},
    {"fm-agent",
     30,
     "12 coder, 4 verifier, 4 coder, 4 verifier, 2 coder, crossover, coder, 2 verifier",
     "coder 0 best; coder 1 dropped; coder 2 accepted; coder 3 best; coder 4 accepted; coder 5 "
     "best; coder 6 best; coder 7 dropped; coder 8<6 not run; coder 9<6 not run; coder 10<6 best; "
     "coder 11<6 best; coder 12<6 not run; coder 13<6 not run; coder 14<11 best; coder 15<11 best; "
     "crossover 200<14,6 not run; coder 18<15 not run; coder 16<6 slower; coder 17<6 best",
     "crossover: contract task base other question; coder: contract machine task cases base "
     "verdict; verifier: contract task candidate question",
     "calls"},
    {"geak",
     14,
     "coder, planner, coder, reflector, coder, planner, coder, planner, coder, planner, coder, "
     "planner, coder, planner",
     "coder 0 best; coder 1<0 dropped; coder 2<0 same; coder 3<0 best; coder 4<3 slower; coder 5<3 "
     "best; coder 6<5 best",
     "reflector: task candidate verdict; coder: contract task cases base plan verdict; planner: "
     "task top candidate verdict question",
     "calls"},
    {"hone",
     14,
     "planner, 4 coder, 2 critic, 2 coder, summariser, coder, summariser, coder, critic",
     "20 builtin; builtin<0; builtin<1; coder 4<20 best; coder 5<21 best",
     "planner: build contract.short machine task menu schedules best stages profile question; "
     "summariser: parent candidate verdict change question; coder: build contract hone.h machine "
     "task example base remarks hotloop attempts question target; critic: build machine task base "
     "profile remarks hotloop",
     "calls"},
    {"hone-small",
     8,
     "8 coder",
     "20 builtin; builtin<0; builtin<1; coder<20 same; sweeps; coder<20 same; sweeps; coder<21 "
     "accepted: simpler; sweeps; coder<21 "
     "same; sweeps",
     "coder: build contract.short task example menu base question target",
     "calls"},
    {"inference-scaling",
     14,
     "coder, reflector, coder, reflector, coder, reflector, coder, reflector, coder, reflector, "
     "coder, reflector, coder, reflector",
     "coder 0 best; coder 1<0 dropped; coder 2<1 accepted; coder 3<2 best; coder 4<3 slower; coder "
     "5<4 best; coder 6<5 best",
     "coder: contract task base plan verdict; reflector: contract task base verdict target",
     "calls"},
    {"kernel-scientist",
     14,
     "selector, planner, 3 coder, selector, planner, 3 coder, selector, planner, 2 coder",
     "builtin; coder 0<0 best; coder 1<0 dropped; coder 2<0 accepted; coder 3<1 best; coder 4<1 "
     "slower; coder 5<1 best; coder 6<1 best; coder 7<1 dropped",
     "selector: task family leaderboard question; planner: machine task base insights question; "
     "coder: contract task base other insights",
     "calls"},
    {"kernelband",
     14,
     "14 coder",
     "builtin; coder 0<0 best; coder 1<0 dropped; coder 2<1 same; coder 3<3 best; coder 4<3 "
     "slower; coder 5<0 best; coder 6<6 best; coder 7<0 dropped; coder 8<0 accepted; coder 9<0 "
     "best; coder 10<0 best; coder 11<0 best; coder 12<0 accepted; coder 13<9 dropped",
     "coder: contract machine task base profile plan",
     "calls"},
    {"kernelevolve",
     20,
     "reflector, librarian, coder, reflector, librarian, coder, 2 reflector, librarian, coder, "
     "reflector, librarian, coder, 2 reflector, librarian, coder, reflector, librarian, coder",
     "2 builtin; coder 0<1 best; coder 1<2 dropped; builtin; coder 2<4 best; coder 3<5 best; "
     "compose 0 best; coder 4<7 slower; coder 5<8 best",
     "reflector: task base profile verdict; librarian: task index plan; coder: contract machine "
     "task documents base profile plan verdict",
     "calls"},
    {"kernelfalcon",
     30,
     "8 coder, tester, planner, 4 coder, 4 summariser, 2 planner, 4 coder, 3 summariser, 2 "
     "planner, coder",
     "coder 0 best; coder 1 dropped; coder 2 accepted; coder 3 best; coder 4 best; coder 5 best; "
     "coder 6 best; coder 7 dropped; compose 3 best; coder 8<8 slower; coder 9<8 best; coder 10<8 "
     "best; coder 11<8 best; coder 12<12 slower; coder 13<12 dropped; coder 14<11 best; coder "
     "15<11 best; coder 16<16 slower",
     "tester: contract.short task question; summariser: parent candidate verdict change question; "
     "planner: machine task base stages profile question; coder: contract task cases base insights "
     "verdict",
     "calls"},
    {"kernelgen",
     14,
     "librarian, 2 coder, 2 reflector, 2 coder, 2 reflector, 2 coder, 2 reflector, 2 coder",
     "coder 0 best; coder 1 dropped; coder 2<0 same; coder 3<1 best; coder 4<2 slower; coder 5<3 "
     "best; coder 6<4 best; coder 7<5 dropped",
     "librarian: task question; reflector: task base history verdict; coder: contract task cases "
     "base plan verdict",
     "calls"},
    {"kevin",
     40,
     "40 coder",
     "coder 0 best; coder 1 dropped; coder 2 accepted; coder 3 best; coder 4 accepted; coder 5 "
     "best; coder 6 best; coder 7 dropped; coder 8 accepted; coder 9 best; coder 10 best; coder 11 "
     "best; coder 12 accepted; coder 13 dropped; coder 14 best; coder 15 best; coder 16<0 slower; "
     "coder 17<1 best; coder 18<2 best; coder 19<3 dropped; coder 20<4 same; coder 21<5 best; "
     "coder 22<6 best; coder 23<7 best; coder 24<8 same; coder 25<9 dropped; coder 26<10 best; "
     "coder 27<11 best; coder 28<12 same; coder 29<13 best; coder 30<14 best; coder 31<15 dropped; "
     "coder 32<16 same; coder 33<17 best; coder 34<18 best; coder 35<19 best; coder 36<20 same; "
     "coder 37<21 dropped; coder 38<22 best; coder 39<23 best",
     "coder: contract task base history verdict",
     "calls"},
    {"kforge",
     14,
     "coder, profiler, coder, profiler, coder, profiler, coder, profiler, coder, profiler, coder",
     "coder 0 best; coder 1<0 dropped; coder 2<0 same; coder 3<2 best; coder 4<3 slower; coder 5<4 "
     "best",
     "profiler: machine task base stages profile hotloop; coder: contract task base plan verdict",
     "rounds"},
    {"maxcode",
     40,
     "8 coder, 8 verifier, critic, 8 coder, 8 verifier, critic, 6 coder",
     "coder 0 not run; coder 1 not run; coder 2 not run; coder 3 not run; coder 4 best; coder 5 "
     "best; coder 6 best; coder 7 dropped; coder 8<6 not run; coder 9<6 not run; coder 10<6 not "
     "run; coder 11<6 not run; coder 12<6 slower; coder 13<6 dropped; coder 14<6 best; coder 15<6 "
     "best; coder 20<15 not run; coder 21<15 not run; coder 16<15 slower; coder 17<15 best; coder "
     "18<15 best; coder 19<15 dropped",
     "verifier: task base candidate question; critic: task base profile verdict; coder: contract "
     "task base plan verdict target",
     "calls"},
    {"perf-tools",
     14,
     "5 coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<1 same; coder 3<1 best",
     "coder: build contract machine task base target",
     "rounds"},
    {"pragma",
     14,
     "profiler, controller, coder, profiler, controller, coder, profiler, controller, coder, "
     "profiler, controller, coder, profiler, controller",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<1 same; coder 3<1 best",
     "coder: contract task base plan verdict; profiler: machine base stages profile remarks; "
     "controller: task base profile history verdict",
     "calls"},
    {"qimeng",
     14,
     "planner, coder, planner, coder, planner, coder, planner, coder, planner, coder, planner, "
     "coder, planner, coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<1 same; coder 3<1 best; coder 4<4 "
     "slower; coder 5<4 best; coder 6<6 best",
     "planner: task base stages question; coder: contract task example base plan",
     "calls"},
    {"qimeng-tensorop",
     14,
     "librarian, 3 coder",
     "coder 0 best; coder 1<0 dropped; coder 2<1 accepted; 25 builtin",
     "librarian: machine index; coder: contract hone.h machine task documents base verdict",
     "no progress"},
    {"regrapht",
     14,
     "planner, coder, planner, coder, planner, coder, planner, coder, planner, coder, planner, "
     "coder, planner, coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<0 accepted; coder 3<3 best; coder 4<4 "
     "slower; coder 5<3 best; coder 6<6 best",
     "planner: task graph base question; coder: contract task graph base plan",
     "calls"},
    {"robust-kbench",
     40,
     "8 coder, 8 verifier compile, 8 verifier memory, 8 verifier numerics, 8 coder",
     "builtin; coder 0<0 not run; coder 1<0 not run; coder 6<0 not run; coder 7<0 not run; coder "
     "2<0 best; coder 3<0 best; coder 4<0 accepted; coder 5<0 best; coder 12<5 not run; coder 13<8 "
     "not run; coder 14<5 not run; coder 15<0 not run; coder 8<0 accepted; coder 9<8 best; coder "
     "10<8 best; coder 11<6 best",
     "verifier compile: build contract task candidate question; verifier memory: contract task "
     "candidate question; verifier numerics: contract task candidate question; coder: contract "
     "task menu top best profile",
     "calls"},
    {"stark",
     14,
     "planner, coder, planner, coder, debugger, planner, coder, planner, coder, planner, coder, "
     "planner, coder, planner",
     "builtin; coder 0<0 best; coder 1<1; debugger 103<2 dropped; coder 2<1 same; coder 3<1 best; "
     "coder 4<5 slower; coder 5<5 best",
     "debugger: contract root candidate family verdict question; coder: contract task root base "
     "family plan; planner: task root base family leaderboard question",
     "calls"},
    {"swizzleperf",
     14,
     "profiler, 10 coder",
     "builtin; coder 0<0 best; coder 1<1 dropped; coder 2<2 accepted; coder 3<3 best; coder 4<4 "
     "slower; coder 5<5 best; coder 6<6 best; coder 7<7 dropped; coder 8<8 accepted; coder 9<9 "
     "best",
     "profiler: machine task root stages profile; coder: contract machine task root profile "
     "history plan",
     "rounds"},
    {"tritonforge",
     20,
     "tester, coder, profiler, controller, reflector, coder, debugger, profiler, coder, profiler, "
     "controller, reflector, coder, profiler, controller, reflector, coder, profiler, controller, "
     "reflector",
     "builtin; coder 0<0 best; coder 1<1; debugger 103<2 dropped; coder 2<1 same; coder 3<1 not "
     "taken; coder 4<1 slower",
     "tester: contract.short task question; debugger: contract task candidate verdict question; "
     "coder: contract task base profile plan; profiler: machine base stages profile; controller: "
     "task parent candidate verdict target; reflector: parent candidate profile verdict",
     "calls"},
