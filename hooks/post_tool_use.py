import sys

sys.path.insert(0, __file__.rpartition("hooks/")[0] + "lib")
from vector_memory.client.hook import main

main("PostToolUse", sys.argv[1])
