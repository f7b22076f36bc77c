# Fuzz targets: tests/fuzz/TARGET.cpp, with the inputs that it starts from and its findings in tests/fuzz/corpus/TARGET/.
#
# With RETRYD_FUZZ (the preset `fuzz`, clang) each is a fuzzer, build/fuzz/bin/fuzz_TARGET, run by ./dev fuzz. In every other
# build each is a program that replays its corpus: the test fuzz_corpus.TARGET.
option(RETRYD_FUZZ "Build the fuzz targets with libFuzzer (clang only)" OFF)

set(fuzz_folder ${CMAKE_CURRENT_LIST_DIR})
add_custom_target(fuzzers)  # all of them

if(NOT RETRYD_FUZZ)
  add_library(fuzz_replay OBJECT ${fuzz_folder}/replay.cpp)
  target_link_libraries(fuzz_replay PUBLIC house)
  target_include_directories(fuzz_replay PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
endif()

# fuzzed_room(ROOM [LINKS LIBRARY...] [FILES STEM...]): with a fuzzer a second library of a room, fuzzed_ROOM, of those files
# of it that the targets reach (all, unless some are named): files with sockets in them cost minutes to compile this way. In
# every other build it is the room itself.
function(fuzzed_room name)
  cmake_parse_arguments(ARG "" "" "LINKS;FILES" ${ARGN})
  if(NOT RETRYD_FUZZ)
    add_library(fuzzed_${name} INTERFACE)
    target_link_libraries(fuzzed_${name} INTERFACE ${name})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(ARG_FILES)
    list(TRANSFORM ARG_FILES PREPEND ${PROJECT_SOURCE_DIR}/src/${name}/ OUTPUT_VARIABLE sources)
    list(TRANSFORM sources APPEND .cpp)
  endif()
  add_library(fuzzed_${name} STATIC EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(fuzzed_${name} PUBLIC house ${ARG_LINKS})
  target_compile_options(fuzzed_${name} PUBLIC -fsanitize=fuzzer-no-link)
endfunction()

fuzzed_room(model LINKS Boost::headers OpenSSL::Crypto PkgConfig::RE2)
fuzzed_room(tls LINKS fuzzed_model OpenSSL::SSL)
fuzzed_room(core LINKS fuzzed_model FILES classify matching)
fuzzed_room(policyfile LINKS fuzzed_tls yaml-cpp)
fuzzed_room(metrics LINKS fuzzed_model prometheus-cpp::core)
fuzzed_room(app LINKS fuzzed_model FILES journal)
fuzzed_room(amqp LINKS fuzzed_tls rabbitmq::rabbitmq Threads::Threads FILES assembler confirms connection consume_session
  decode dial exit frames methods publish_session pump read_pace scratch_channel send settle tls_socket)
fuzzed_room(sockets LINKS fuzzed_model)
fuzzed_room(deliver LINKS fuzzed_model Boost::json FILES http_date http_header_value http_reply http_reply_reader http_request
  http_text stream_frame stream_message stream_ops stream_session)
fuzzed_room(admin LINKS fuzzed_sockets Boost::json FILES access columns orders query routes status_json why why_not wording)

# fuzz_target(TARGET ROOM...)
function(fuzz_target name)
  add_executable(fuzz_${name} ${fuzz_folder}/${name}.cpp)
  target_include_directories(fuzz_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM ARGN PREPEND fuzzed_ OUTPUT_VARIABLE rooms)
  target_link_libraries(fuzz_${name} PRIVATE ${rooms} Boost::json)
  add_dependencies(fuzzers fuzz_${name})
  if(RETRYD_FUZZ)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(fuzz_${name} PRIVATE fuzz_replay)
    add_test(NAME fuzz_corpus.${name} COMMAND fuzz_${name} ${fuzz_folder}/corpus/${name})
    set_tests_properties(fuzz_corpus.${name} PROPERTIES LABELS unit)
  endif()
endfunction()

fuzz_target(admin admin)
if(NOT RETRYD_FUZZ)
  fuzz_target(admin_server admin)  # clang 14 cannot assemble the server's coroutines with sanitizers: replayed only
endif()
fuzz_target(amqp_frames amqp)
fuzz_target(amqp_link amqp)
fuzz_target(broker_uri policyfile)
fuzz_target(classify core deliver)
fuzz_target(headers deliver)
fuzz_target(http_date deliver)
fuzz_target(http_reply deliver)
fuzz_target(http_request deliver)
fuzz_target(outputs admin app metrics)
fuzz_target(policy policyfile)
fuzz_target(properties model)
fuzz_target(record model)
fuzz_target(stream_message deliver)
fuzz_target(stream_session deliver)
