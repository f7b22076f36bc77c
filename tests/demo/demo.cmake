# The demo. It starts a broker of its own, as it does for whoever tries it.
# demo_test(name module[.Class]): the unittest module, or one class of it, as the ctest demo.name.
function(demo_test name module)
  add_test(NAME demo.${name} COMMAND ${TEST_PYTHON} -B -m unittest --verbose ${module}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/demo)
  set_tests_properties(demo.${name} PROPERTIES LABELS demo TIMEOUT 600
    ENVIRONMENT "RETRYD_BIN=$<TARGET_FILE:retryd>;PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/integration")
endfunction()

demo_test(view test_view)
demo_test(screen test_screen)
demo_test(table test_table)
demo_test(svg test_svg)
demo_test(played test_demo.Played)
demo_test(ended test_demo.Ended)
