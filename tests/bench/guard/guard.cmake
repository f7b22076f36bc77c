# What one message may cost, in units that do not depend on how busy the machine is: guard.*, with bounds.py.
add_executable(guard_costs ${CMAKE_CURRENT_LIST_DIR}/costs.cpp)
target_link_libraries(guard_costs PRIVATE bench_rig)
add_library(call_counter MODULE ${CMAKE_CURRENT_LIST_DIR}/call_counter.cpp)
target_link_libraries(call_counter PRIVATE ${CMAKE_DL_LIBS})

function(guard name)
  add_test(NAME guard.${name} COMMAND ${ARGN})
  set_tests_properties(guard.${name} PROPERTIES LABELS guard TIMEOUT 300)
endfunction()

set(guard ${TEST_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/guard.py)
guard(can_fail ${TEST_PYTHON} -B ${CMAKE_CURRENT_LIST_DIR}/test_guard.py)
if(CMAKE_BUILD_TYPE STREQUAL "Release")  # what is built otherwise costs what it likes
  guard(allocations ${guard} allocations $<TARGET_FILE:guard_costs>)
  guard(instructions ${guard} instructions $<TARGET_FILE:guard_costs>)
  guard(calls ${WITH_BROKER} ${guard} calls $<TARGET_FILE:call_counter>)
  set_tests_properties(guard.calls PROPERTIES FIXTURES_REQUIRED broker RUN_SERIAL ON
    ENVIRONMENT "RETRYD_BIN=$<TARGET_FILE:retryd>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/integration")
endif()
