# What is shipped round the programs: service, package, policies, rules. A test whose tool is not installed is not registered.
# packaging_test(test_x.py): the unittest module as the ctest packaging.x.
function(packaging_test file)
  get_filename_component(module ${file} NAME_WE)
  string(REGEX REPLACE "^test_" "" name ${module})
  add_test(NAME packaging.${name} COMMAND ${TEST_PYTHON} -B -m unittest --verbose ${module}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/packaging)
  set_tests_properties(packaging.${name} PROPERTIES LABELS packaging TIMEOUT 120
    ENVIRONMENT "RETRYD_BIN=$<TARGET_FILE:retryd>;RETRYCTL_BIN=$<TARGET_FILE:retryctl>;RETRYD_BUILD=${CMAKE_BINARY_DIR};CPACK=${CMAKE_CPACK_COMMAND};PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/integration")
endfunction()

packaging_test(test_notify.py)
packaging_test(test_policies.py)
packaging_test(test_metrics.py)
packaging_test(test_deploy.py)

find_program(SYSTEMD_ANALYZE systemd-analyze)
if(SYSTEMD_ANALYZE)
  packaging_test(test_service.py)
endif()

# Units are started only where systemd runs the machine, and by root.
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(IS_DIRECTORY /run/systemd/system AND user EQUAL 0)
  packaging_test(test_service_live.py)
endif()

find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
find_program(FILE file)
if(DPKG_SHLIBDEPS AND FILE)
  packaging_test(test_package.py)
endif()

find_program(PROMTOOL promtool)
if(PROMTOOL)
  add_test(NAME packaging.rules COMMAND ${PROMTOOL} test rules ${PROJECT_SOURCE_DIR}/deploy/prometheus/rules_test.yaml)
  set_tests_properties(packaging.rules PROPERTIES LABELS packaging TIMEOUT 60)
endif()
