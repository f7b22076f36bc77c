# The house rules as tests, and the proof that each of them can fail.
set(TEST_PYTHON /usr/bin/python3)  # Debian's: never one that happens to be first in PATH

function(check name)
  add_test(NAME check.${name} COMMAND ${ARGN})
  set_tests_properties(check.${name} PROPERTIES LABELS unit)
endfunction()

set(tools ${CMAKE_CURRENT_LIST_DIR})
check(layers ${TEST_PYTHON} ${tools}/check_layers ${PROJECT_SOURCE_DIR})
check(coroutines ${TEST_PYTHON} ${tools}/check_coroutines ${PROJECT_SOURCE_DIR})
check(format ${tools}/check_format ${PROJECT_SOURCE_DIR})
check(can_fail ${TEST_PYTHON} -B ${tools}/test_checks.py)
