// The functions of the HSA API tables, in the order of ROCm 6.4's tables (hsa_api_trace.h): tools find them by position.
#pragma once

// clang-format off: one macro a line is what makes the lists readable
#define WAVESMITH_CORE_API(X) \
  X(hsa_init) X(hsa_shut_down) X(hsa_system_get_info) X(hsa_system_extension_supported) \
  X(hsa_system_get_extension_table) X(hsa_iterate_agents) X(hsa_agent_get_info) X(hsa_queue_create) \
  X(hsa_soft_queue_create) X(hsa_queue_destroy) X(hsa_queue_inactivate) X(hsa_queue_load_read_index_scacquire) \
  X(hsa_queue_load_read_index_relaxed) X(hsa_queue_load_write_index_scacquire) \
  X(hsa_queue_load_write_index_relaxed) X(hsa_queue_store_write_index_relaxed) \
  X(hsa_queue_store_write_index_screlease) X(hsa_queue_cas_write_index_scacq_screl) \
  X(hsa_queue_cas_write_index_scacquire) X(hsa_queue_cas_write_index_relaxed) \
  X(hsa_queue_cas_write_index_screlease) X(hsa_queue_add_write_index_scacq_screl) \
  X(hsa_queue_add_write_index_scacquire) X(hsa_queue_add_write_index_relaxed) \
  X(hsa_queue_add_write_index_screlease) X(hsa_queue_store_read_index_relaxed) \
  X(hsa_queue_store_read_index_screlease) X(hsa_agent_iterate_regions) X(hsa_region_get_info) \
  X(hsa_agent_get_exception_policies) X(hsa_agent_extension_supported) X(hsa_memory_register) \
  X(hsa_memory_deregister) X(hsa_memory_allocate) X(hsa_memory_free) X(hsa_memory_copy) X(hsa_memory_assign_agent) \
  X(hsa_signal_create) X(hsa_signal_destroy) X(hsa_signal_load_relaxed) X(hsa_signal_load_scacquire) \
  X(hsa_signal_store_relaxed) X(hsa_signal_store_screlease) X(hsa_signal_wait_relaxed) X(hsa_signal_wait_scacquire) \
  X(hsa_signal_and_relaxed) X(hsa_signal_and_scacquire) X(hsa_signal_and_screlease) X(hsa_signal_and_scacq_screl) \
  X(hsa_signal_or_relaxed) X(hsa_signal_or_scacquire) X(hsa_signal_or_screlease) X(hsa_signal_or_scacq_screl) \
  X(hsa_signal_xor_relaxed) X(hsa_signal_xor_scacquire) X(hsa_signal_xor_screlease) X(hsa_signal_xor_scacq_screl) \
  X(hsa_signal_exchange_relaxed) X(hsa_signal_exchange_scacquire) X(hsa_signal_exchange_screlease) \
  X(hsa_signal_exchange_scacq_screl) X(hsa_signal_add_relaxed) X(hsa_signal_add_scacquire) \
  X(hsa_signal_add_screlease) X(hsa_signal_add_scacq_screl) X(hsa_signal_subtract_relaxed) \
  X(hsa_signal_subtract_scacquire) X(hsa_signal_subtract_screlease) X(hsa_signal_subtract_scacq_screl) \
  X(hsa_signal_cas_relaxed) X(hsa_signal_cas_scacquire) X(hsa_signal_cas_screlease) X(hsa_signal_cas_scacq_screl) \
  X(hsa_isa_from_name) X(hsa_isa_get_info) X(hsa_isa_compatible) X(hsa_code_object_serialize) \
  X(hsa_code_object_deserialize) X(hsa_code_object_destroy) X(hsa_code_object_get_info) \
  X(hsa_code_object_get_symbol) X(hsa_code_symbol_get_info) X(hsa_code_object_iterate_symbols) \
  X(hsa_executable_create) X(hsa_executable_destroy) X(hsa_executable_load_code_object) X(hsa_executable_freeze) \
  X(hsa_executable_get_info) X(hsa_executable_global_variable_define) \
  X(hsa_executable_agent_global_variable_define) X(hsa_executable_readonly_variable_define) \
  X(hsa_executable_validate) X(hsa_executable_get_symbol) X(hsa_executable_symbol_get_info) \
  X(hsa_executable_iterate_symbols) X(hsa_status_string) X(hsa_extension_get_name) \
  X(hsa_system_major_extension_supported) X(hsa_system_get_major_extension_table) \
  X(hsa_agent_major_extension_supported) X(hsa_cache_get_info) X(hsa_agent_iterate_caches) \
  X(hsa_signal_silent_store_relaxed) X(hsa_signal_silent_store_screlease) X(hsa_signal_group_create) \
  X(hsa_signal_group_destroy) X(hsa_signal_group_wait_any_scacquire) X(hsa_signal_group_wait_any_relaxed) \
  X(hsa_agent_iterate_isas) X(hsa_isa_get_info_alt) X(hsa_isa_get_exception_policies) X(hsa_isa_get_round_method) \
  X(hsa_wavefront_get_info) X(hsa_isa_iterate_wavefronts) X(hsa_code_object_get_symbol_from_name) \
  X(hsa_code_object_reader_create_from_file) X(hsa_code_object_reader_create_from_memory) \
  X(hsa_code_object_reader_destroy) X(hsa_executable_create_alt) X(hsa_executable_load_program_code_object) \
  X(hsa_executable_load_agent_code_object) X(hsa_executable_validate_alt) X(hsa_executable_get_symbol_by_name) \
  X(hsa_executable_iterate_agent_symbols) X(hsa_executable_iterate_program_symbols)

#define WAVESMITH_AMD_API(X) \
  X(hsa_amd_coherency_get_type) X(hsa_amd_coherency_set_type) X(hsa_amd_profiling_set_profiler_enabled) \
  X(hsa_amd_profiling_async_copy_enable) X(hsa_amd_profiling_get_dispatch_time) \
  X(hsa_amd_profiling_get_async_copy_time) X(hsa_amd_profiling_convert_tick_to_system_domain) \
  X(hsa_amd_signal_async_handler) X(hsa_amd_async_function) X(hsa_amd_signal_wait_any) X(hsa_amd_queue_cu_set_mask) \
  X(hsa_amd_memory_pool_get_info) X(hsa_amd_agent_iterate_memory_pools) X(hsa_amd_memory_pool_allocate) \
  X(hsa_amd_memory_pool_free) X(hsa_amd_memory_async_copy) X(hsa_amd_memory_async_copy_on_engine) \
  X(hsa_amd_memory_copy_engine_status) X(hsa_amd_agent_memory_pool_get_info) X(hsa_amd_agents_allow_access) \
  X(hsa_amd_memory_pool_can_migrate) X(hsa_amd_memory_migrate) X(hsa_amd_memory_lock) X(hsa_amd_memory_unlock) \
  X(hsa_amd_memory_fill) X(hsa_amd_interop_map_buffer) X(hsa_amd_interop_unmap_buffer) X(hsa_amd_image_create) \
  X(hsa_amd_pointer_info) X(hsa_amd_pointer_info_set_userdata) X(hsa_amd_ipc_memory_create) \
  X(hsa_amd_ipc_memory_attach) X(hsa_amd_ipc_memory_detach) X(hsa_amd_signal_create) X(hsa_amd_ipc_signal_create) \
  X(hsa_amd_ipc_signal_attach) X(hsa_amd_register_system_event_handler) X(hsa_amd_queue_intercept_create) \
  X(hsa_amd_queue_intercept_register) X(hsa_amd_queue_set_priority) X(hsa_amd_memory_async_copy_rect) \
  X(hsa_amd_runtime_queue_create_register) X(hsa_amd_memory_lock_to_pool) X(hsa_amd_register_deallocation_callback) \
  X(hsa_amd_deregister_deallocation_callback) X(hsa_amd_signal_value_pointer) X(hsa_amd_svm_attributes_set) \
  X(hsa_amd_svm_attributes_get) X(hsa_amd_svm_prefetch_async) X(hsa_amd_spm_acquire) X(hsa_amd_spm_release) \
  X(hsa_amd_spm_set_dest_buffer) X(hsa_amd_queue_cu_get_mask) X(hsa_amd_portable_export_dmabuf) \
  X(hsa_amd_portable_close_dmabuf) X(hsa_amd_vmem_address_reserve) X(hsa_amd_vmem_address_free) \
  X(hsa_amd_vmem_handle_create) X(hsa_amd_vmem_handle_release) X(hsa_amd_vmem_map) X(hsa_amd_vmem_unmap) \
  X(hsa_amd_vmem_set_access) X(hsa_amd_vmem_get_access) X(hsa_amd_vmem_export_shareable_handle) \
  X(hsa_amd_vmem_import_shareable_handle) X(hsa_amd_vmem_retain_alloc_handle) \
  X(hsa_amd_vmem_get_alloc_properties_from_handle) X(hsa_amd_agent_set_async_scratch_limit) \
  X(hsa_amd_queue_get_info) X(hsa_amd_vmem_address_reserve_align) X(hsa_amd_enable_logging) \
  X(hsa_amd_signal_wait_all)

#define WAVESMITH_FINALIZER_API(X) \
  X(hsa_ext_program_create) X(hsa_ext_program_destroy) X(hsa_ext_program_add_module) \
  X(hsa_ext_program_iterate_modules) X(hsa_ext_program_get_info) X(hsa_ext_program_finalize)

#define WAVESMITH_IMAGE_API(X) \
  X(hsa_ext_image_get_capability) X(hsa_ext_image_data_get_info) X(hsa_ext_image_create) X(hsa_ext_image_import) \
  X(hsa_ext_image_export) X(hsa_ext_image_copy) X(hsa_ext_image_clear) X(hsa_ext_image_destroy) \
  X(hsa_ext_sampler_create) X(hsa_ext_sampler_destroy) X(hsa_ext_image_get_capability_with_layout) \
  X(hsa_ext_image_data_get_info_with_layout) X(hsa_ext_image_create_with_layout) X(hsa_ext_sampler_create_v2)

#define WAVESMITH_SAMPLING_API(X) \
  X(hsa_ven_amd_pcs_iterate_configuration) X(hsa_ven_amd_pcs_create) X(hsa_ven_amd_pcs_create_from_id) \
  X(hsa_ven_amd_pcs_destroy) X(hsa_ven_amd_pcs_start) X(hsa_ven_amd_pcs_stop) X(hsa_ven_amd_pcs_flush)

// Deprecated names and the functions that replaced them.
#define WAVESMITH_ALIASES(X) \
  X(hsa_queue_load_read_index_acquire, hsa_queue_load_read_index_scacquire) \
  X(hsa_queue_load_write_index_acquire, hsa_queue_load_write_index_scacquire) \
  X(hsa_queue_store_write_index_release, hsa_queue_store_write_index_screlease) \
  X(hsa_queue_cas_write_index_acq_rel, hsa_queue_cas_write_index_scacq_screl) \
  X(hsa_queue_cas_write_index_acquire, hsa_queue_cas_write_index_scacquire) \
  X(hsa_queue_cas_write_index_release, hsa_queue_cas_write_index_screlease) \
  X(hsa_queue_add_write_index_acq_rel, hsa_queue_add_write_index_scacq_screl) \
  X(hsa_queue_add_write_index_acquire, hsa_queue_add_write_index_scacquire) \
  X(hsa_queue_add_write_index_release, hsa_queue_add_write_index_screlease) \
  X(hsa_queue_store_read_index_release, hsa_queue_store_read_index_screlease) \
  X(hsa_signal_load_acquire, hsa_signal_load_scacquire) X(hsa_signal_store_release, hsa_signal_store_screlease) \
  X(hsa_signal_wait_acquire, hsa_signal_wait_scacquire) X(hsa_signal_and_acquire, hsa_signal_and_scacquire) \
  X(hsa_signal_and_release, hsa_signal_and_screlease) X(hsa_signal_and_acq_rel, hsa_signal_and_scacq_screl) \
  X(hsa_signal_or_acquire, hsa_signal_or_scacquire) X(hsa_signal_or_release, hsa_signal_or_screlease) \
  X(hsa_signal_or_acq_rel, hsa_signal_or_scacq_screl) X(hsa_signal_xor_acquire, hsa_signal_xor_scacquire) \
  X(hsa_signal_xor_release, hsa_signal_xor_screlease) X(hsa_signal_xor_acq_rel, hsa_signal_xor_scacq_screl) \
  X(hsa_signal_exchange_acquire, hsa_signal_exchange_scacquire) \
  X(hsa_signal_exchange_release, hsa_signal_exchange_screlease) \
  X(hsa_signal_exchange_acq_rel, hsa_signal_exchange_scacq_screl) \
  X(hsa_signal_add_acquire, hsa_signal_add_scacquire) X(hsa_signal_add_release, hsa_signal_add_screlease) \
  X(hsa_signal_add_acq_rel, hsa_signal_add_scacq_screl) \
  X(hsa_signal_subtract_acquire, hsa_signal_subtract_scacquire) \
  X(hsa_signal_subtract_release, hsa_signal_subtract_screlease) \
  X(hsa_signal_subtract_acq_rel, hsa_signal_subtract_scacq_screl) \
  X(hsa_signal_cas_acquire, hsa_signal_cas_scacquire) X(hsa_signal_cas_release, hsa_signal_cas_screlease) \
  X(hsa_signal_cas_acq_rel, hsa_signal_cas_scacq_screl)
