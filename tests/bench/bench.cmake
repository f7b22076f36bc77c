# What ./dev bench needs: cmake --build build/release --target bench. Nothing of it is built with the rest, and no test needs it.
add_custom_target(bench DEPENDS retryd)

add_library(bench_parts STATIC EXCLUDE_FROM_ALL)
foreach(part options tally unix_socket bare_amqp)
  target_sources(bench_parts PRIVATE ${CMAKE_CURRENT_LIST_DIR}/programs/${part}.cpp)
endforeach()
target_link_libraries(bench_parts PUBLIC house rabbitmq::rabbitmq Threads::Threads)
target_include_directories(bench_parts PUBLIC ${CMAKE_CURRENT_LIST_DIR})

foreach(program drain ladder publish stream_client http_server)
  add_executable(bench_${program} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/programs/${program}.cpp)
  target_link_libraries(bench_${program} PRIVATE bench_parts)
  add_dependencies(bench bench_${program})
endforeach()

# The engine with nothing round it: for the guard (a test) and the micro-benchmarks.
add_library(bench_rig STATIC ${CMAKE_CURRENT_LIST_DIR}/rig/rig.cpp ${CMAKE_CURRENT_LIST_DIR}/rig/mouth.cpp)
target_link_libraries(bench_rig PUBLIC engine deliver)
target_include_directories(bench_rig PUBLIC ${CMAKE_CURRENT_LIST_DIR})

include(${CMAKE_CURRENT_LIST_DIR}/guard/guard.cmake)

find_package(benchmark QUIET)
if(benchmark_FOUND)
  add_executable(bench_micro EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/micro/micro.cpp)
  target_link_libraries(bench_micro PRIVATE bench_rig benchmark::benchmark)
  add_dependencies(bench bench_micro)
endif()

add_test(NAME bench.report COMMAND ${TEST_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_bench.py)
set_tests_properties(bench.report PROPERTIES LABELS unit)
