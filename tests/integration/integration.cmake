# Tests of the built programs against one private RabbitMQ, started for the run and removed after it; when ctest is killed,
# the broker's keeper sees it and ends by itself.
set(private_broker ${TEST_PYTHON} ${PROJECT_SOURCE_DIR}/tests/tools/private_broker)
set(broker_folder ${CMAKE_BINARY_DIR}/test-broker)

# Put before a command that needs the broker: it then has RETRYD_TEST_AMQP and RETRYD_TEST_AMQPS. The test must also require the fixture `broker`.
set(WITH_BROKER ${private_broker} env ${broker_folder} --)

add_test(NAME broker.start COMMAND ${private_broker} start-tls ${broker_folder})
add_test(NAME broker.stop COMMAND ${private_broker} stop ${broker_folder})
set_tests_properties(broker.start PROPERTIES FIXTURES_SETUP broker TIMEOUT 150)
set_tests_properties(broker.stop PROPERTIES FIXTURES_CLEANUP broker TIMEOUT 60)

# Loaded by test_wall_clock.py into the daemon whose clock it sets.
add_library(wall_clock_shim MODULE ${CMAKE_CURRENT_LIST_DIR}/wall_clock_shim.cpp)

# integration_test(test_x.py [ALONE] [TIMEOUT seconds]): the unittest module as the ctest integration.x.
# ALONE: it disturbs the broker or measures times, so nothing runs beside it; the modules whose names end in _alone.
function(integration_test file)
  cmake_parse_arguments(ARG "ALONE" "TIMEOUT" "" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)  # a bound against hanging, far above what a busy machine needs
  endif()
  get_filename_component(module ${file} NAME_WE)
  string(REGEX REPLACE "^test_" "" name ${module})
  add_test(NAME integration.${name} COMMAND ${WITH_BROKER} ${TEST_PYTHON} -B -m unittest --verbose ${module}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/integration)
  set_tests_properties(integration.${name} PROPERTIES LABELS integration FIXTURES_REQUIRED broker TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "RETRYD_BIN=$<TARGET_FILE:retryd>;RETRYCTL_BIN=$<TARGET_FILE:retryctl>;WALL_CLOCK_SHIM=$<TARGET_FILE:wall_clock_shim>"
    RUN_SERIAL "${ARG_ALONE}")
endfunction()

file(GLOB modules CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/test_*.py)
foreach(module ${modules})
  if(module MATCHES "_alone\\.py$")  # disturbs the broker or measures times
    integration_test(${module} ALONE)
  else()
    integration_test(${module})
  endif()
endforeach()
