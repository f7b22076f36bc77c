# The demo, and what README.md shows, as whoever tries it would meet them: with brokers of their own.
# demo_test(name module[.Class]... [OWN_BROKER]): the unittest modules, or classes of them, as the ctest of that name.
function(demo_test name)
  cmake_parse_arguments(ARG "OWN_BROKER" "" "" ${ARGN})
  set(command ${TEST_PYTHON} -B -m unittest --verbose ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_OWN_BROKER)
    list(PREPEND command ${PROJECT_SOURCE_DIR}/tests/tools/private_broker with)
  endif()
  add_test(NAME ${name} COMMAND ${command} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/demo)
  set_tests_properties(${name} PROPERTIES LABELS demo TIMEOUT 600
    ENVIRONMENT "RETRYD_BIN=$<TARGET_FILE:retryd>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/integration")
endfunction()

demo_test(demo.view test_view)
demo_test(demo.screen test_screen)
demo_test(demo.table test_table)
demo_test(demo.svg test_svg)
demo_test(demo.played test_demo.Played)
demo_test(demo.ended test_demo.Ended)

demo_test(readme.words test_readme.Words)
demo_test(readme.examples test_readme.Examples OWN_BROKER)

# A consumer whose language or library is not installed is not registered.
find_program(NODE node)
if(NODE)
  demo_test(readme.node test_readme.Node OWN_BROKER)
endif()
execute_process(COMMAND ${TEST_PYTHON} -c "import pika" RESULT_VARIABLE no_pika OUTPUT_QUIET ERROR_QUIET)
if(no_pika EQUAL 0)
  demo_test(readme.before test_readme.Before OWN_BROKER)
endif()
