# The Debian package: cpack --config build/release/CPackConfig.cmake -G DEB
# Its library dependencies are read from the programs themselves (which needs the packages dpkg-dev and file).
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)  # the package needs the programs, not the tests
install(TARGETS retryd retryctl RUNTIME DESTINATION bin)
install(FILES systemd/retryd.service systemd/retryd@.service DESTINATION lib/systemd/system)
install(FILES README.md deploy/debian/copyright DESTINATION share/doc/retryd)
install(DIRECTORY docs/ DESTINATION share/doc/retryd PATTERN __pycache__ EXCLUDE)
install(DIRECTORY config/ DESTINATION share/doc/retryd/examples FILES_MATCHING PATTERN "*.yaml")
install(FILES config/smallest.yaml DESTINATION /etc/retryd RENAME retryd.yaml.example)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME retryd)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "retryd <retryd@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)  # whatever the builder's umask
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "retries for RabbitMQ consumers, outside of their code
retryd stands between a RabbitMQ work queue and the process that really
consumes it. It delivers each message over a local socket, reads the reply,
and retries with backoff and jitter through delay queues on the broker, or
parks or dead-letters what cannot succeed.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS passwd)  # its useradd makes the service's user
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)  # whom amqps:// trusts where the policy names nobody
set(CPACK_DEBIAN_PACKAGE_SUGGESTS rabbitmq-server)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${PROJECT_SOURCE_DIR}/deploy/debian/postinst;${PROJECT_SOURCE_DIR}/deploy/debian/prerm"
    "${PROJECT_SOURCE_DIR}/deploy/debian/postrm;${PROJECT_SOURCE_DIR}/deploy/debian/conffiles")
include(CPack)
