// Metadata as the interface shows it: texts, maps and lists.
#pragma once
#include <string>
#include <vector>

#include "comgr/abi.h"

namespace wavesmith::comgr {

struct NodeEntry;

struct Node {
  enum class Kind : int { kNull = 0, kText = 1, kMap = 2, kList = 3 };

  Kind kind = Kind::kNull;
  std::string text;
  std::vector<NodeEntry> map;
  std::vector<Node> list;

  static Node Text(std::string of);
  static Node Map();
  void Put(const std::string& key, Node value);
};

struct NodeEntry {
  Node key;
  Node value;
};

// Reads MessagePack bytes. False when they are damaged.
bool ReadNode(const std::string& bytes, Node* root);

}  // namespace wavesmith::comgr
