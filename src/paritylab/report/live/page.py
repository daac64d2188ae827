"""x"""
from pathlib import Path
FOLDER = Path(__file__).parent
