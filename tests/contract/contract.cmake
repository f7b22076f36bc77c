# The contract of ports::Broker: the same cases against every broker that stands behind it. One program for each stage;
# real_*.cpp says in addition what only RabbitMQ can show.
set(contract_cases consuming fidelity links publishing topology)
list(TRANSFORM contract_cases PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
list(TRANSFORM contract_cases APPEND .cpp)

file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/real_*.cpp)
add_executable(contract_rabbitmq ${contract_cases} ${sources})
target_link_libraries(contract_rabbitmq PRIVATE catch_main amqp)
target_include_directories(contract_rabbitmq PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})

# Registered at the end of this folder's list: the fixture and ${WITH_BROKER}, the command that runs another one with
# RETRYD_TEST_AMQP set, are integration's.
function(register_contract_rabbitmq)
  add_test(NAME contract_rabbitmq COMMAND ${WITH_BROKER} $<TARGET_FILE:contract_rabbitmq>)
  add_test(NAME contract_rabbitmq_tls
           COMMAND ${WITH_BROKER} ${CMAKE_COMMAND} -E env RETRYD_TEST_LINKS=tls $<TARGET_FILE:contract_rabbitmq>)
  set_tests_properties(contract_rabbitmq contract_rabbitmq_tls PROPERTIES LABELS integration FIXTURES_REQUIRED broker)
endfunction()
cmake_language(DEFER CALL register_contract_rabbitmq)

if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/sim_stage.cpp)
  add_library(sim_stage STATIC ${CMAKE_CURRENT_LIST_DIR}/sim_stage.cpp)  # holds no cases of its own
  target_link_libraries(sim_stage PUBLIC sim)
  target_include_directories(sim_stage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  test_program(contract_model sim SOURCES ${contract_cases} LINKS sim_stage)
endif()
