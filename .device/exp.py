import sys,time; sys.path.insert(0,'src')
import numpy as np
from paritylab.learning.chain_training import *
from paritylab.problem.tree import random_tree
for k,ep in ((8,1000),(16,1000),(32,1000)):
  for mode in MODES:
    t=time.time(); out=[]
    for s in range(5):
      r=train_full_batch(random_tree(s,64,k),mode,samples=100_000,epochs=ep,key=s)
      out.append((r.solved_at,round(r.accuracy,3),round(float(r.prediction[349]),3),round(float(r.prediction[-1]),3)))
    print(k,mode,out,r.opened[[0,100,200,300,350,500]].tolist(),round(time.time()-t,1),flush=True)
