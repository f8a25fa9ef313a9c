// What an action is told, and doing it. Source: amd_comgr.h.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "comgr/action.h"
#include "comgr/isa.h"
#include "comgr/objects.h"
#include "comgr/version.h"

using namespace wavesmith::comgr;  // NOLINT: the C API's definitions follow

namespace {

// Two lists of an action have the same three functions.
using List = std::vector<std::string> ActionInfo::*;
Status SetList(Handle info, List list, const char* const* texts, size_t count) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr || (texts == nullptr && count != 0)) return Status::kInvalidArgument;
  std::vector<std::string> made;
  for (size_t n = 0; n < count; n++) {
    if (texts[n] == nullptr) return Status::kInvalidArgument;
    made.emplace_back(texts[n]);
  }
  *found.*list = std::move(made);
  return Status::kSuccess;
}
Status CountList(Handle info, List list, size_t* count) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr || count == nullptr) return Status::kInvalidArgument;
  *count = (*found.*list).size();
  return Status::kSuccess;
}
Status AnswerItem(Handle info, List list, size_t index, size_t* size, char* room) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr || index >= (*found.*list).size()) return Status::kInvalidArgument;
  return Answer(WithEnd((*found.*list)[index]), size, room);
}

// AMD_COMGR_REDIRECT_LOGS: `stdout`, `stderr` or a file that the log is added to.
void Redirect(const std::string& log) {
  const char* const target = std::getenv("AMD_COMGR_REDIRECT_LOGS");
  if (target == nullptr || *target == '\0' || log.empty()) return;
  const std::string name = target;
  if (name == "stdout" || name == "-" || name == "stderr") {
    std::FILE* const stream = name == "stderr" ? stderr : stdout;
    std::fwrite(log.data(), 1, log.size(), stream);
    std::fflush(stream);
  } else {
    std::ofstream(name, std::ios::app) << log;
  }
}

}  // namespace

WAVESMITH_COMGR Status amd_comgr_create_action_info(Handle* info) {
  if (info == nullptr) return Status::kInvalidArgument;
  *info = ActionInfos().Add(std::make_shared<ActionInfo>());
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_destroy_action_info(Handle info) {
  return ActionInfos().Remove(info) ? Status::kSuccess : Status::kInvalidArgument;
}

WAVESMITH_COMGR Status amd_comgr_action_info_set_isa_name(Handle info, const char* name) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  const std::string text = name == nullptr ? "" : name;
  if (!text.empty() && !ReadIsaName(text)) return Status::kInvalidArgument;
  found->isa_name = text;
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_isa_name(Handle info, size_t* size, char* name) {
  const auto found = ActionInfos().Find(info);
  return found == nullptr ? Status::kInvalidArgument : Answer(WithEnd(found->isa_name), size, name);
}
WAVESMITH_COMGR Status amd_comgr_action_info_set_language(Handle info, int language) {
  const auto found = ActionInfos().Find(info);
  return found != nullptr && ReadLanguage(language, &found->language) ? Status::kSuccess : Status::kInvalidArgument;
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_language(Handle info, int* language) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr || language == nullptr) return Status::kInvalidArgument;
  *language = NumberOf(found->language);
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_action_info_set_option_list(Handle info, const char* options[], size_t count) {
  return SetList(info, &ActionInfo::options, options, count);
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_option_list_count(Handle info, size_t* count) {
  return CountList(info, &ActionInfo::options, count);
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_option_list_item(Handle info, size_t index, size_t* size,
                                                                  char* option) {
  return AnswerItem(info, &ActionInfo::options, index, size, option);
}
WAVESMITH_COMGR Status amd_comgr_action_info_set_options(Handle info, const char* options) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  found->option_line = options == nullptr ? "" : options;
  std::istringstream words(found->option_line);
  found->options.clear();
  for (std::string word; words >> word;) found->options.push_back(word);
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_options(Handle info, size_t* size, char* options) {
  const auto found = ActionInfos().Find(info);
  return found == nullptr ? Status::kInvalidArgument : Answer(WithEnd(found->option_line), size, options);
}

WAVESMITH_COMGR Status amd_comgr_action_info_set_bundle_entry_ids(Handle info, const char* ids[], size_t count) {
  return SetList(info, &ActionInfo::bundle_entries, ids, count);
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_bundle_entry_id_count(Handle info, size_t* count) {
  return CountList(info, &ActionInfo::bundle_entries, count);
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_bundle_entry_id(Handle info, size_t index, size_t* size, char* id) {
  return AnswerItem(info, &ActionInfo::bundle_entries, index, size, id);
}

WAVESMITH_COMGR Status amd_comgr_action_info_set_device_lib_linking(Handle info, bool links) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  found->links_device_libraries = links;
  return Status::kSuccess;
}
// Compilers here run in a folder of their own whatever a program prefers: the results are the same.
WAVESMITH_COMGR Status amd_comgr_action_info_set_vfs(Handle info, bool) {
  return ActionInfos().Find(info) == nullptr ? Status::kInvalidArgument : Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_info_set_working_directory_path(Handle info, const char* path) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  found->path = path == nullptr ? "" : path;
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_working_directory_path(Handle info, size_t* size, char* path) {
  const auto found = ActionInfos().Find(info);
  return found == nullptr ? Status::kInvalidArgument : Answer(WithEnd(found->path), size, path);
}
WAVESMITH_COMGR Status amd_comgr_action_info_set_logging(Handle info, bool has_logging) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr) return Status::kInvalidArgument;
  found->has_logging = has_logging;
  return Status::kSuccess;
}
WAVESMITH_COMGR Status amd_comgr_action_info_get_logging(Handle info, bool* has_logging) {
  const auto found = ActionInfos().Find(info);
  if (found == nullptr || has_logging == nullptr) return Status::kInvalidArgument;
  *has_logging = found->has_logging;
  return Status::kSuccess;
}

WAVESMITH_COMGR Status amd_comgr_do_action(int kind, Handle info, Handle input, Handle result) {
  Action action;
  const auto told = ActionInfos().Find(info);
  const auto from = Sets().Find(input);
  const auto into = Sets().Find(result);
  if (!ReadAction(kind, &action) || told == nullptr || from == nullptr || into == nullptr) {
    return Status::kInvalidArgument;
  }
  std::string log;
  // Made apart: the result may be put into the set that the input is from.
  DataSet made;
  const Status status = Perform(action, *told, *from, &made, &log);
  Redirect(log);
  if (told->has_logging) made.members.push_back(std::make_shared<Data>(DataKind::kLog, "comgr.log", log));
  into->members.insert(into->members.end(), made.members.begin(), made.members.end());
  return status;
}
